import { describe, expect, it } from 'vitest'
import { createJsonScanner } from './json-depth.ts'
import { isTooWide, mostWidth } from './json-width.ts'

const { values: mostValues, keys: mostKeys } = mostWidth
const keys = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${from + nth}`, nth]))

describe('width', () => {
  it('[CL6b] is counted at its edges: values, and different keys, in all', () => {
    expect(isTooWide('text')).toBe(false)
    expect(isTooWide(Array.from({ length: mostValues }, () => 1))).toBe(false)
    expect(isTooWide([Array.from({ length: mostValues }, () => 1)])).toBe(true)
    expect(isTooWide(keys(mostKeys))).toBe(false)
    expect(isTooWide([keys(mostKeys + 1)])).toBe(true)
    expect(isTooWide([keys(10), keys(10)], { values: 21, keys: 10 })).toBe(true)
    expect(isTooWide([keys(10), keys(10)], { values: 22, keys: 10 })).toBe(false)
    expect(isTooWide([keys(10), [keys(10, 1)]], { values: 99, keys: 10 })).toBe(true)
    expect(isTooWide([keys(10), [keys(10, 1)]], { values: 99, keys: 11 })).toBe(false)
  })

  it('[CL6b] ends for a value that refers to itself', () => {
    const value: unknown[] = []
    value.push(value, value)
    expect(isTooWide(value)).toBe(true)
  })

  it('[CL6b] is counted in a text, wherever it is cut, and what is in strings is not', () => {
    const value = { 'a,:{': [1, ',,', { b: 1, c: ':"\\', d: {} }, [], { b: 2 }], e: 1, empty: [] }
    const text = JSON.stringify(value, null, ' ')
    for (let at = 0; at <= text.length; at++) {
      const scan = createJsonScanner(mostKeys)
      scan(text.slice(0, at))
      expect(scan(text.slice(at))).toEqual({ depth: 4, members: 3, values: 12, keys: 6 })
    }
    expect(isTooWide(value, { values: 12, keys: 6 })).toBe(false)
    expect(isTooWide(value, { values: 11, keys: 6 })).toBe(true)
    expect(isTooWide(value, { values: 12, keys: 5 })).toBe(true)
  })

  it('[CL6b OP7] of a text is counted up to one key more than may be, whatever it has', () => {
    const scan = createJsonScanner(mostKeys)
    for (let from = 0; from < 4 * mostKeys; from += 1_000) {
      const { keys: counted } = scan(JSON.stringify(keys(1_000, from)))
      expect(counted).toBe(Math.min(from + 1_000, mostKeys + 1))
    }
  })
})
