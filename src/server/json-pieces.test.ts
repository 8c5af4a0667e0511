import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonPieces } from './json-pieces.ts'

const json = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' })

it('[OP7] the pieces are the text of JSON.stringify, whatever counts as long', () => {
  fc.assert(
    fc.property(json, fc.nat({ max: 8 }), (value, long) => {
      expect([...jsonPieces(value, long)].join('')).toBe(JSON.stringify(value))
    }),
    { seed: 1 },
  )
})

it.each([
  { a: undefined, b: 'xxxx', c: [undefined, 'xxxx', null], d: undefined },
  [new Date(0), 'xxxx', { at: new Date(0), text: 'xxxx' }],
  { 'a "key"': 'xxxx', '2': 1, '1': 2 },
  [[], {}, 'xxxx', [{}]],
])('[OP7] also of values that are not JSON (%#)', (value) => {
  expect([...jsonPieces(value, 4)].join('')).toBe(JSON.stringify(value))
})

it('[OP7] each long text is a piece of its own, and what has none is one piece', () => {
  const page = { results: [{ id: 'a', content: 'long', parts: [{ text: 'long' }] }, { id: 'b' }] }
  const pieces = [...jsonPieces(page, 4)]
  expect(pieces.filter((piece) => piece.includes('long'))).toEqual(['"long"', '"long"'])
  expect(pieces).toContain('{"id":"b"}')
  expect([...jsonPieces(page, 5)]).toEqual([JSON.stringify(page)])
})
