import { expect, it } from 'vitest'
import { parseOwnerId } from '../../core/ids.ts'
import { createResultMemory } from './result-memory.ts'

const [ann, ben, cleo] = ['ann', 'ben', 'cleo'].map(parseOwnerId) as [string, string, string]
const limits = { ofOwner: 100, ofAll: 150, ofEach: 10 }

it('[OP7] the running turns of one owner hold so much together, and get it back when one ends', () => {
  const memory = createResultMemory(limits)
  const [first, second] = [memory.open(ann), memory.open(ann)]
  expect([first.hold(60), second.hold(40), second.hold(1)]).toEqual([true, true, false])
  first.release()
  first.release()
  expect([second.hold(60), second.hold(1)]).toEqual([true, false])
})

it('[OP7] those of all owners too, but nobody is refused little', () => {
  const memory = createResultMemory(limits)
  const [first, second, third] = [memory.open(ann), memory.open(ben), memory.open(cleo)]
  expect([first.hold(100), second.hold(50), second.hold(5)]).toEqual([true, true, false])
  expect([third.hold(11), third.hold(5), third.hold(5), third.hold(1)]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

it('[OP7] a result that comes after the end of its run holds nothing', () => {
  const memory = createResultMemory(limits)
  const [ended, next] = [memory.open(ann), memory.open(ann)]
  ended.release()
  expect(ended.hold(90)).toBe(true)
  ended.count(90)
  expect(next.hold(100)).toBe(true)
})

it('[OP7] a turn that another run has begun is counted as it is, and never refused', () => {
  const memory = createResultMemory(limits)
  const run = memory.open(ann)
  run.count(50)
  // Later counts are of less than what is held already: they count characters only.
  run.count(20)
  expect([run.hold(50), run.hold(1)]).toEqual([true, false])
  run.count(120)
  run.release()
  expect(memory.open(ann).hold(100)).toBe(true)
})
