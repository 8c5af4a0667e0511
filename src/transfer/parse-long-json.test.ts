import { describe, expect, it } from 'vitest'
import type { Json } from '../core/json.ts'
import { createPacer } from '../store/pacer.ts'
import { parseLongJson } from './parse-long-json.ts'

const long = (count: number): Json => Array.from({ length: count }, (_, nth) => `s${nth}`)
const parse = (text: string) => parseLongJson(text, createPacer())

const values: Readonly<Record<string, Json>> = {
  'a list of texts': long(30_000),
  'an object': Object.fromEntries((long(20_000) as string[]).map((key) => [key, { [key]: [] }])),
  'long values in each other': { a: 1, b: [long(9_000), { c: long(9_000), d: 'e' }, 2], f: [] },
  'long texts with brackets, quotes and backslashes': [
    '[{",'.repeat(40_000),
    '\\'.repeat(70_000),
    '\\"'.repeat(40_001),
    { '"}],': '"]'.repeat(50_000) },
  ],
  'a long list at its beginning and its end': [long(9_000), 1, long(9_000)],
  'long objects under keys of every kind': {
    ['__proto__']: long(9_000),
    '"\\': { x: long(9_000) },
    '': long(9_000),
    10: long(9_000),
    2: 1,
  },
}

describe('a long JSON text', () => {
  it.each(Object.entries(values))(
    '[OP7b LE5] is parsed as JSON.parse does: %s',
    async (_, value) => {
      for (const space of [undefined, '\t']) {
        const text = ` ${JSON.stringify(value, null, space)}\n`
        const parsed = await parse(text)
        expect(parsed).toEqual(JSON.parse(text))
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(text)))
      }
    },
  )

  const blank = ' \t\r\n'.repeat(20_000)
  it.each([`[${blank}]`, `{${blank}}`, `{"a":[${blank}],"b":{${blank}},"c":1}`])(
    '[OP7b LE5] that is mostly empty is parsed as JSON.parse does: %#',
    async (text) => {
      expect(await parse(text)).toEqual(JSON.parse(text))
    },
  )

  it('[OP7b] of two values for one key has the last', async () => {
    const text = `{"a":1,"b":${JSON.stringify(long(9_000))},"a":${JSON.stringify(long(9_000))},"b":2}`
    expect(JSON.stringify(await parse(text))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it('[OP7b] that is deep is parsed, however deep', async () => {
    const deep = `${'['.repeat(50_000)}${JSON.stringify(long(9_000))}${']'.repeat(50_000)}`
    let level = 0
    for (let inside = await parse(deep); Array.isArray(inside); inside = inside[0] as Json) level++
    expect(level).toBe(50_001)
  })

  const list = JSON.stringify(long(9_000))
  it.each([
    ...[`[${list},]`, `[,${list}]`, `[${list} ${list}]`, `[${list},,1]`, `[1 ${list}]`],
    ...[`{${list}}`, `{"a"${list}}`, `{"a":${list},}`, `{"a":${list}"b":1}`, `{"a":1,${list}}`],
    ...[`{"a":1:${list}}`, `["a":${list}]`, `[${list}}`, `${list}]`, `${list} 1`, `[${list}`],
    ...[`{a:${list}}`, `[${list.slice(0, -2)}]`, `[${list},`, `{"a":${list},"b"}`],
    // Space in JavaScript, but not in JSON.
    ...[
      `\u00A0${list}`,
      `${list}\u00A0`,
      `[\u00A0${list}]`,
      `[${list}\u2028,1]`,
      `[${list}\uFEFF]`,
    ],
    ...[`{\u00A0"a":${list}}`, `{"a":\u00A0${list}}`, `[1,\u00A0${blank}]`, `[${blank},1]`],
  ])('[OP7b LE5] that is no JSON is none: %#', async (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
    expect(await parse(text)).toBeUndefined()
  })
})
