import { expect, it } from 'vitest'
import type { Json } from '../core/json.ts'
import { runToEnd } from '../core/pausable-work.ts'
import { isWideMessage, isWideValue, mostImported } from './message-width.ts'

const keys = (count: number, prefix: string): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`${prefix}${nth}`, nth]))
const isWide = (message: Json) => runToEnd(isWideMessage(message))

it('[CL6b] a message is counted at its edges: its values in all, its different keys in each entry of a list', () => {
  const { values, keys: most } = mostImported
  const list = (length: number) => Array.from({ length }, () => 1)
  // The list is a value too, and so is its entry.
  expect(isWide({ parts: [list(values - 2)] })).toBe(false)
  expect(isWide({ parts: [list(values - 1)] })).toBe(true)
  expect(isWide({ parts: [{ a: list(values / 2) }, { a: list(values / 2) }] })).toBe(true)

  const full = keys(most, 'a')
  const lists = { parts: [full, keys(most, 'b')], metadata: { parts: [[full], 'c'] } }
  expect(isWide(lists)).toBe(false)
  expect(runToEnd(isWideValue(lists))).toBe(true)
  expect(isWide([keys(most + 1, 'a')])).toBe(true)
  expect(isWide({ parts: [{ rows: [full] }] })).toBe(true)
  expect(isWide({ more: keys(most - 1, 'a') })).toBe(false)
  expect(isWide({ more: full })).toBe(true)
  // Shared keys are one.
  const shared = keys(most - 1, 'a')
  expect(isWide({ parts: [{ rows: [shared, shared] }] })).toBe(false)
})

it.each<[what: string, wrap: (rows: Json) => Json]>([
  ['many parts', (rows) => ({ parts: rows })],
  ['a part with many values', (rows) => ({ parts: [{ rows }] })],
])('[OP7] a message is counted in steps: %s', (_, wrap) => {
  const work = isWideMessage(wrap(Array.from({ length: 100_000 }, () => ({ a: 1 }))))
  let steps = 0
  while (work.next().done !== true) steps++
  expect(steps).toBeGreaterThan(20)
})
