import { expect, it } from 'vitest'
import { countJsonChars, isLargerThan } from './json-size.ts'

it.each([
  [null],
  [true],
  [12.5],
  ['text'],
  [[]],
  [{}],
  [[1, 'a', null]],
  [{ a: 1, b: [{ c: 'd' }] }],
])('[ST4b] counts %j about as JSON has it, and never more than a comma too many', (value) => {
  const length = JSON.stringify(value).length
  const counted = countJsonChars(value, 1_000)
  expect(counted).toBeGreaterThanOrEqual(length)
  expect(counted - length).toBeLessThanOrEqual(5)
})

it('[ST4b] ends, whatever it counts', () => {
  const cycle: unknown[] = []
  cycle.push(cycle, cycle)
  expect(isLargerThan(cycle, 1_000_000)).toBe(true)
  let deep: unknown = 1
  for (let level = 0; level < 200_000; level++) deep = [deep]
  expect(isLargerThan(deep, 1_000_000)).toBe(false)
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no')
      },
    },
  )
  expect(isLargerThan(hostile, 10)).toBe(false)
  const endless = (): object =>
    new Proxy(
      {},
      {
        get: endless,
        ownKeys: () => ['a'],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      },
    )
  expect(isLargerThan(endless(), 10_000)).toBe(true)
})
