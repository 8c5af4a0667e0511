import { expect, it } from 'vitest'
import { sortInSteps } from './pausable-work.ts'

it('[OP7] sorts a long list in portions, as `toSorted` does, equal ones in their order', () => {
  for (const count of [0, 1, 1_023, 1_025, 50_000]) {
    const items = Array.from({ length: count }, (_, nth) => ({ nth, key: (nth * 7_919) % 101 }))
    const compare = (left: { key: number }, right: { key: number }) => left.key - right.key
    const work = sortInSteps(items, compare)
    let pauses = 0
    let step = work.next()
    for (; step.done !== true; step = work.next()) pauses++
    expect(step.value).toEqual(items.toSorted(compare))
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(count / 1_024))
  }
})
