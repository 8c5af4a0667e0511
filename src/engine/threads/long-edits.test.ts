import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { memory } from '../../store/memory/index.ts'
import { enterLongEdit } from './long-edits.ts'

it('[OP7] two long edits of a store run at once, and the others in the order in which they came', async () => {
  const store = memory()
  const entered: number[] = []
  const enter = async (nth: number) => {
    const leave = await enterLongEdit(store)
    entered.push(nth)
    return leave
  }
  const edits = [1, 2, 3, 4, 5].map(enter)
  await setImmediate()
  expect(entered).toEqual([1, 2])
  // A place is handed over once, however often its holder leaves.
  const [first, second] = await Promise.all(edits.slice(0, 2))
  first?.()
  first?.()
  await setImmediate()
  expect(entered).toEqual([1, 2, 3])
  second?.()
  await setImmediate()
  expect(entered).toEqual([1, 2, 3, 4])
  const [third, fourth] = await Promise.all(edits.slice(2, 4))
  third?.()
  fourth?.()
  const fifth = await edits[4]
  fifth?.()
  // All places are free again.
  await Promise.all([enter(6), enter(7)])
  expect(entered).toEqual([1, 2, 3, 4, 5, 6, 7])
  // Those of another store have their own.
  await enterLongEdit(memory())
})
