import { expect, test } from 'vitest'
import { createRandom } from '../testing/random.ts'
import { randomJson } from '../testing/random-ledger/random-content.ts'
import { sameJson } from './same-json.ts'

test('[LG4] sameJson is true of what reads the same, and of nothing else', () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = createRandom(seed)
    const value = randomJson(random)
    const other = randomJson(random)
    expect(sameJson(value, structuredClone(value))).toBe(true)
    expect(sameJson(value, other)).toBe(JSON.stringify(value) === JSON.stringify(other))
  }
  expect(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true)
  expect(sameJson({ toString: 1 }, {})).toBe(false)
  expect(sameJson([], {})).toBe(false)
  expect(sameJson(undefined, null)).toBe(false)
})
