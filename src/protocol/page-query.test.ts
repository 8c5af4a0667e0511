import { expect, it } from 'vitest'
import { parseCursor, parseLimit, toCursor } from './page-query.ts'

it('[PG4] decodes the position that a cursor was made of', () => {
  for (const place of [1, 2, 35, 36, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    expect(parseCursor('thread-a', toCursor('thread-a', place))).toBe(place)
  }
})

it('[PG4] refuses a cursor of another thread', () => {
  expect(() => parseCursor('thread-b', toCursor('thread-a', 12))).toThrow(/another list/)
})

it.each([
  '',
  '-',
  'abc',
  '1',
  '1-',
  '-1',
  '0-0',
  'c-zzzz',
  'c-zzzz-1',
  '99999999999999999999-a',
  '%00',
])('[PG4] refuses the malformed cursor %j', (cursor) => {
  expect(() => parseCursor('thread-a', cursor)).toThrow(/malformed/)
})

it('[PG5] accepts limits from 1 to 200 and refuses the rest', () => {
  expect([1, '1', 25, '200', 200].map((limit) => parseLimit(limit))).toEqual([1, 1, 25, 200, 200])
  for (const bad of [0, 201, -1, 1.5, Number.NaN, '', ' 5', '1e2', '0x10', null, undefined, {}]) {
    expect(() => parseLimit(bad)).toThrow(/1 to 200/)
  }
})
