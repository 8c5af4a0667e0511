import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createFairGate } from './fair-gate.ts'

it('[OP7] so many pass at once, one of each key, and otherwise in the order in which they came', async () => {
  const gate = createFairGate(2)
  const inside: string[] = []
  const enter = async (name: string) => {
    const leave = await gate(name.slice(0, 1))
    inside.push(name)
    return leave
  }
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
  const leaves = new Map(names.map((name) => [name, enter(name)]))
  const leave = async (name: string) => {
    const go = await leaves.get(name)
    go?.()
    // A place is given back once, however often its holder leaves.
    go?.()
    await setImmediate()
  }
  await setImmediate()
  expect(inside).toEqual(['a1', 'b1'])
  await leave('b1')
  expect(inside).toEqual(['a1', 'b1', 'c1'])
  await leave('c1')
  expect(inside).toEqual(['a1', 'b1', 'c1', 'b2'])
  await leave('a1')
  expect(inside).toEqual(['a1', 'b1', 'c1', 'b2', 'a2'])
  await leave('a2')
  await leave('b2')
  await leave('a3')
  expect(inside).toEqual(['a1', 'b1', 'c1', 'b2', 'a2', 'a3'])
  // All places are free again.
  await Promise.all([enter('d1'), enter('e1')])
})
