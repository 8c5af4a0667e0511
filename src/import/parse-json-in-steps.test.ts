import { describe, expect, it, vi } from 'vitest'
import { type Json, parseJson } from '../core/json.ts'
import { runToEnd } from '../core/pausable-work.ts'
import { createRandom } from '../testing/random.ts'
import { type ParseBounds, parseJsonInSteps } from './parse-json-in-steps.ts'

const long = (count: number): Json => Array.from({ length: count }, (_, nth) => `s${nth}`)
const read = (text: string, bounds?: ParseBounds) => runToEnd(parseJsonInSteps(text, bounds))
function parse(text: string): Json | undefined {
  const found = read(text)
  return found.kind === 'value' ? found.value : undefined
}

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
  it.each(Object.entries(values))('[OP7b LE5] is parsed as JSON.parse does: %s', (_, value) => {
    for (const space of [undefined, '\t']) {
      const text = ` ${JSON.stringify(value, null, space)}\n`
      const parsed = parse(text)
      expect(parsed).toEqual(JSON.parse(text))
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(text)))
    }
  })

  const blank = ' \t\r\n'.repeat(20_000)
  it.each([`[${blank}]`, `{${blank}}`, `{"a":[${blank}],"b":{${blank}},"c":1}`])(
    '[OP7b LE5] that is mostly empty is parsed as JSON.parse does: %#',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text))
    },
  )

  it('[OP7b] of two values for one key has the last', () => {
    const text = `{"a":1,"b":${JSON.stringify(long(9_000))},"a":${JSON.stringify(long(9_000))},"b":2}`
    expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it('[OP7b] that is deep is parsed, however deep', () => {
    const deep = `${'['.repeat(50_000)}${JSON.stringify(long(9_000))}${']'.repeat(50_000)}`
    let level = 0
    for (let inside = parse(deep); Array.isArray(inside); inside = inside[0] as Json) level++
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
  ])('[OP7b LE5] that is no JSON is none: %#', (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
    expect(parse(text)).toBeUndefined()
  })

  it('[OP7b LE5] is parsed as JSON.parse does, wherever its slices end: five seeds', () => {
    for (const sliceChars of [1, 2, 5, 16, 60]) {
      const { write, spoil } = createJsonWriter(sliceChars)
      let sound = 0
      for (let nth = 0; nth < 3_000; nth++) {
        const text = nth % 2 === 0 ? write(5) : spoil(write(5))
        const value = parseJson(text)
        const found = read(text, { sliceChars })
        const expected = value === undefined ? { kind: 'not-json' } : { kind: 'value', value }
        // As text: `toEqual` sees neither the order of keys nor a property `__proto__`.
        expect([text, JSON.stringify(found)]).toEqual([text, JSON.stringify(expected)])
        if (value !== undefined) sound++
      }
      expect(sound).toBeGreaterThan(1_600)
      expect(sound).toBeLessThan(2_900)
    }
  })

  it('[OP7] is walked once, and each of its characters is parsed once', () => {
    const text = `[${'[],'.repeat(100_000)}[]]`
    const steps = [
      vi.spyOn(String.prototype, 'charCodeAt'),
      vi.spyOn(RegExp.prototype, 'exec'),
      vi.spyOn(RegExp.prototype, Symbol.search),
    ]
    const parsing = vi.spyOn(JSON, 'parse')
    try {
      expect(read(text).kind).toBe('value')
      const walked = steps.reduce((sum, { mock }) => sum + mock.calls.length, 0)
      expect(walked / text.length).toBeLessThan(1.1)
      const parsed = parsing.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0)
      expect(parsed / text.length).toBeLessThan(1.1)
      expect(Math.max(...parsing.mock.calls.map(([piece]) => piece.length))).toBeLessThan(70_000)
    } finally {
      for (const step of [...steps, parsing]) step.mockRestore()
    }
  })

  it('[CL6a OP7] is not parsed where it is deeper than it may be', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${list}${']'.repeat(depth)}`
    expect(read(nested(9), { mostDepth: 10 }).kind).toBe('value')
    expect(read(nested(10), { mostDepth: 10 })).toEqual({ kind: 'too-deep' })
  })

  it('[CL6b OP7] is not parsed where one object has more members than it may have', () => {
    const object = (count: number) => `{${'"key":1,'.repeat(count - 1)}"key":1}`
    const bounds = { mostMembers: 20_000 }
    expect(read(`[1,${object(20_000)},${list}]`, bounds).kind).toBe('value')
    expect(read(`[1,${object(20_001)},${list}]`, bounds)).toEqual({ kind: 'too-wide' })
    expect(read(`[${object(20_000)},${object(20_000)}]`, bounds).kind).toBe('value')
    expect(read(`[${'1,'.repeat(90_000)}1]`, bounds).kind).toBe('value')
  })
})

/** JSON texts with space wherever it may be, and spoiled ones. */
function createJsonWriter(seed: number) {
  const random = createRandom(seed)
  // No backslash in a key: after it has parsed an object with one, `JSON.parse` of Node itself mistakes other keys for it that
  // begin with an escape.
  const keys = ['"a"', '"__proto__"', '"10"', '"2"', '""', '"[,]{}:"', '"toString"', '"\u{1f600}"']
  const texts = [...keys, '"\\\\"', '"\\""', '"\\\\\\""', '"\\u0000"', '"}],"']
  const plain = ['0', '-0', '-1.5e-3', '1E+400', 'null', 'true', 'false']
  const space = () => random.pick(['', '', '', ' ', '\n', '\t\r'])
  const many = (toItem: () => string) =>
    Array.from({ length: random.int(5) }, () => `${space()}${toItem()}${space()}`).join(',')
  const write = (depth: number): string => {
    const kind = random.int(depth > 0 ? 6 : 2)
    if (kind === 0) return random.pick(plain)
    if (kind === 1) return random.pick(texts)
    const item = () => write(depth - 1)
    if (kind < 4) return `[${space()}${many(item)}]`
    return `{${space()}${many(() => `${random.pick(keys)}${space()}:${space()}${item()}`)}}`
  }
  const signs = ['[', ']', '{', '}', ',', ':', '"', '1', '\u00a0', 'null', '"a":', ',[1,2]']
  return {
    write: (depth: number): string => `${space()}${write(depth)}${space()}`,
    /** With something put in, taken out or replaced. */
    spoil: (text: string): string => {
      const [at, length] = [random.int(text.length + 1), random.int(3)]
      return `${text.slice(0, at)}${random.pick(['', ...signs])}${text.slice(at + length)}`
    },
  }
}
