import { memory } from 'holdfast'
import { httpRules, randomLedger, simulate, storeRules } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'

const [storeRule] = storeRules
const [httpRule] = httpRules
const ofTwo = httpRules.find(({ needs }) => needs === 'two-owners')
const open = () => memory()
const reopen = () => memory()

describe('a rule', () => {
  it.each<readonly [fixture: unknown, message: string]>([
    [undefined, 'The check of a store rule takes an object of options, not undefined.'],
    [
      {},
      'The check of a store rule needs the option "open": a function that opens an empty store.',
    ],
    [
      { open },
      'The check of a store rule needs the option "reopen": a function that closes a store and opens the same data again.',
    ],
    [
      { open, reopen },
      'The check of a store rule needs the option "clock": a clock with now and advance, or null.',
    ],
    [
      { open, reopen, clock: Date.now },
      'The check of a store rule: the option "clock" must be a clock with now and advance, or null, not a function.',
    ],
  ])('[CF1] for stores names what its fixture lacks (%#)', async (fixture, message) => {
    await expect(storeRule?.check(fixture as never)).rejects.toMatchObject({
      code: 'bad-option',
      message,
    })
  })

  it.each<readonly [fixture: unknown, message: string]>([
    [undefined, 'The check of an HTTP rule takes an object of options, not undefined.'],
    [
      { url: 'http://127.0.0.1:1' },
      'The check of an HTTP rule needs the option "baseUrl": an http:// or https:// address.',
    ],
    [{}, 'The check of an HTTP rule needs the option "baseUrl": an http:// or https:// address.'],
    [
      { baseUrl: '127.0.0.1:1' },
      'The check of an HTTP rule: the option "baseUrl" must be an http:// or https:// address, not "127.0.0.1:1".',
    ],
  ])('[CF1] for servers names what its fixture lacks (%#)', async (fixture, message) => {
    await expect(httpRule?.check(fixture as never)).rejects.toMatchObject({
      code: 'bad-option',
      message,
    })
  })

  it('[CF1] for servers with two owners needs their headers', async () => {
    await expect(ofTwo?.check({ baseUrl: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'bad-option',
      message:
        'The check of an HTTP rule that needs "two-owners" needs the option "headersOf": a function.',
    })
  })
})

it.each<readonly [options: unknown, message: string]>([
  [undefined, 'simulate takes an object of options, not undefined.'],
  [{ seed: 1 }, 'simulate needs the option "openStore": a function.'],
  [{ openStore: open }, 'simulate needs the option "seed": a number.'],
  [{ seed: 1, store: memory() }, 'simulate has no option "store". Did you mean "openStore"?'],
])('[CF1] simulate names what its options lack (%#)', async (options, message) => {
  await expect(simulate(options as never)).rejects.toMatchObject({ code: 'bad-option', message })
})

it.each<readonly [seed: unknown, options: unknown, message: string]>([
  [undefined, {}, 'randomLedger takes a seed, which is a number, not undefined.'],
  [1, { turn: 2 }, 'randomLedger has no option "turn". Did you mean "turns"?'],
  [
    1,
    { shape: 'round' },
    'randomLedger: the option "shape" must be "any" or "crashed", not "round".',
  ],
])('[CF1] randomLedger names what is wrong (%#)', (seed, options, message) => {
  expect(() => randomLedger(seed as never, options as never)).toThrow(
    expect.objectContaining({ code: 'bad-option', message }),
  )
})
