import { describe, expect, it } from 'vitest'
import { createJsonScanner } from './json-depth.ts'
import { isTooWide, mostKeys, mostValues } from './json-width.ts'

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, nth]))

describe('width', () => {
  it('[CL6b] is counted at its edges: values in all, and keys of one object', () => {
    expect(isTooWide('text')).toBe(false)
    expect(isTooWide(Array.from({ length: mostValues }, () => 1))).toBe(false)
    expect(isTooWide([Array.from({ length: mostValues }, () => 1)])).toBe(true)
    expect(isTooWide(keys(mostKeys))).toBe(false)
    expect(isTooWide([keys(mostKeys + 1)])).toBe(true)
    expect(isTooWide([keys(10), keys(10)], 21)).toBe(true)
    expect(isTooWide([keys(10), keys(10)], 22)).toBe(false)
  })

  it('[CL6b] ends for a value that refers to itself', () => {
    const value: unknown[] = []
    value.push(value, value)
    expect(isTooWide(value)).toBe(true)
  })

  it('[CL6b] is counted in a text, wherever it is cut, and what is in strings is not', () => {
    const text = JSON.stringify({ 'a,:{': [1, ',,', { b: 1, c: ':"\\', d: {} }], e: 1 })
    for (let at = 0; at <= text.length; at++) {
      const scan = createJsonScanner()
      scan(text.slice(0, at))
      expect(scan(text.slice(at))).toEqual({ depth: 4, values: 9, keys: 3 })
    }
    expect(createJsonScanner()(JSON.stringify(keys(mostKeys + 1))).keys).toBe(mostKeys + 1)
  })
})
