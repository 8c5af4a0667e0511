import { describe, expect, test } from 'vitest'
import type { Json } from '../core/json.ts'
import { toClientJson } from './client-json.ts'

const parse = (text: string): Json => JSON.parse(text) as Json

describe('toClientJson', () => {
  test('[RS3] leaves out what makes a client give up the stream', () => {
    const value = parse(`[{"a":{"__proto__":{"x":1},"b":2}},
      {"constructor":{"prototype":{"x":1}}},{"constructor":{"name":"x"}},{"prototype":1}]`)
    expect(JSON.stringify(toClientJson(value))).toBe(
      '[{"a":{"b":2}},{},{"constructor":{"name":"x"}},{"prototype":1}]',
    )
  })

  test('[LG5] returns the same value when there is nothing to leave out', () => {
    const value = parse('{"a":[{"b":[1,"two",null,false]}],"toString":{}}')
    expect(toClientJson(value)).toBe(value)
    expect(toClientJson(undefined)).toBeUndefined()
  })
})
