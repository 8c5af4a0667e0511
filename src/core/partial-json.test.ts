import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from './json.ts'
import { parsePartialJson } from './partial-json.ts'

it('[LG7] reads what is certain of a cut-off text and leaves the rest out', () => {
  expect(parsePartialJson('')).toBeUndefined()
  expect(parsePartialJson('{"a": [1, 2')).toEqual({ a: [1] })
  expect(parsePartialJson('{"a": "Ber')).toEqual({ a: 'Ber' })
  expect(parsePartialJson('{"a": 1, "b')).toEqual({ a: 1 })
  expect(parsePartialJson('{"a": tru')).toEqual({})
  expect(parsePartialJson('[{"x": null}, {"y"')).toEqual([{ x: null }, {}])
})

it('[LG7] never alters a number or a dotted string that is cut off', () => {
  expect(parsePartialJson('{"pi": 3.14')).toEqual({})
  expect(parsePartialJson('{"pi": 3.14,')).toEqual({ pi: 3.14 })
  expect(parsePartialJson('{"host": "127.0.0.1"')).toEqual({ host: '127.0.0.1' })
  expect(parsePartialJson('{"host": "127.0.0')).toEqual({ host: '127.0.0' })
  expect(parsePartialJson('-')).toBeUndefined()
})

it('[LG7] gives what stood before a fault', () => {
  expect(parsePartialJson('{"a": 1, b: 2}')).toEqual({ a: 1 })
  expect(parsePartialJson('[1, 2 3]')).toEqual([1, 2])
  expect(parsePartialJson('{"a": "x\\q"}')).toEqual({ a: 'x' })
  expect(parsePartialJson('nonsense')).toBeUndefined()
})

it('[LG7] makes `__proto__` a key like any other', () => {
  const value = parsePartialJson('{"__proto__": {"evil": true}, "a": "b') as object
  expect(Object.keys(value)).toEqual(['__proto__', 'a'])
  expect(({} as { evil?: true }).evil).toBeUndefined()
})

it('[LG7] gives, for any prefix of any JSON, a prefix of its value', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, cut) => {
      const whole = JSON.parse(text) as Json
      const partial = parsePartialJson(text.slice(0, cut % (text.length + 1)))
      expect(partial === undefined || isPrefix(partial, whole)).toBe(true)
    }),
    { seed: 20261115, numRuns: 3_000 },
  )
})

it('[LG7] only grows as the text does', () => {
  fc.assert(
    fc.property(fc.json({ depthSize: 'small' }), (text) => {
      let before: Json | undefined
      for (let cut = 0; cut <= text.length; cut++) {
        const value = parsePartialJson(text.slice(0, cut))
        expect(before === undefined || (value !== undefined && isPrefix(before, value))).toBe(true)
        before = value
      }
    }),
    { seed: 3, numRuns: 300 },
  )
})

/** Containers may be shorter and strings cut; what is there is what the whole has. */
function isPrefix(partial: Json, whole: Json): boolean {
  if (typeof partial === 'string') return typeof whole === 'string' && whole.startsWith(partial)
  if (Array.isArray(partial)) {
    return (
      Array.isArray(whole) &&
      partial.length <= whole.length &&
      partial.every((item, index) => isPrefix(item as Json, whole[index] as Json))
    )
  }
  if (typeof partial === 'object' && partial !== null) {
    return (
      typeof whole === 'object' &&
      whole !== null &&
      Object.entries(partial).every(
        ([key, value]) =>
          Object.hasOwn(whole, key) && isPrefix(value, (whole as never)[key] as Json),
      )
    )
  }
  return Object.is(partial, whole)
}
