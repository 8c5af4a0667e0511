import { describe, expect, it } from 'vitest'
import type { Json } from './json.ts'
import { createJsonScanner, deepestValue, flattenJson, isDeeperThan } from './json-depth.ts'

const nested = (levels: number, leaf: Json = 1): Json => {
  let value = leaf
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const depthOfText = (text: string): number => createJsonScanner(0)(text).depth

describe('depth', () => {
  it('[CL6a] is counted at its edge, and without recursion', () => {
    expect(isDeeperThan(nested(3), 3)).toBe(false)
    expect(isDeeperThan(nested(4), 3)).toBe(true)
    expect(isDeeperThan('text', 0)).toBe(false)
    expect(isDeeperThan(nested(500_000), deepestValue)).toBe(true)
    expect([depthOfText('[[{"a":"[[["}]]'), depthOfText('1'), depthOfText('"\\"["')]).toEqual([
      3, 0, 0,
    ])
    expect(depthOfText('['.repeat(500_000))).toBe(500_000)
  })

  it('[HT3] counts the same in a text that comes in pieces, wherever it is cut', () => {
    const text = '{"a\\"[[":[1,{"b":"]}\\\\"}]}'
    expect(depthOfText(text)).toBe(3)
    for (let at = 0; at <= text.length; at++) {
      const scan = createJsonScanner(0)
      scan(text.slice(0, at))
      expect(scan(text.slice(at))).toEqual({ depth: 3, members: 1, values: 4, keys: 1 })
    }
  })

  it('[CL6a] leaves alone what is not too deep', () => {
    const value = { list: [1, { two: [] }] }
    expect(flattenJson(value, 4)).toBe(value)
  })

  it('[CL6a] gives what is deeper as its text, in its place, and keeps the rest', () => {
    const value = { z: 1, a: [{ b: [1, 2] }, 'x'], c: { d: {} }, e: null }
    expect(flattenJson(value, 2)).toEqual({
      z: 1,
      a: ['{"b":[1,2]}', 'x'],
      c: { d: '{}' },
      e: null,
    })
    expect(Object.keys(flattenJson(value, 2) as object)).toEqual(['z', 'a', 'c', 'e'])
    expect(flattenJson([[1]], 0)).toBe('[[1]]')
    const named = JSON.parse('{"__proto__": [[[1]]], "constructor": 2}') as Json
    expect(JSON.stringify(flattenJson(named, 2))).toBe('{"__proto__":["[[1]]"],"constructor":2}')
  })

  it('[CL6a] flattens a hundred thousand levels to the most that there may be', () => {
    const flat = flattenJson(nested(100_000), deepestValue)
    expect(isDeeperThan(flat, deepestValue)).toBe(false)
    expect(isDeeperThan(flat, deepestValue - 1)).toBe(true)
    expect(JSON.parse(JSON.stringify(flat))).toEqual(flat)
  })
})
