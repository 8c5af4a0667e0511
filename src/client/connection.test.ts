import { describe, expect, it } from 'vitest'
import {
  backOffMs,
  type Connection,
  type ConnectionInput,
  type ConnectionStep,
  nextConnection,
} from './connection.ts'

const states = {
  idle: { status: 'idle' },
  first: { status: 'connecting', attempt: 0 },
  third: { status: 'connecting', attempt: 2 },
  live: { status: 'live', attempt: 2 },
  backing: { status: 'backing-off', attempt: 3, delayMs: 900 },
  offline: { status: 'offline' },
  refused: { status: 'refused', code: 'thread-not-found' },
} as const satisfies Readonly<Record<string, Connection>>

const lost = { type: 'lost', wasUseful: false, random: 1, retryAfterMs: 0 } as const
const inputs = {
  started: { type: 'started' },
  opened: { type: 'opened' },
  lost,
  lostAfterUse: { ...lost, wasUseful: true },
  toldToWait: { ...lost, retryAfterMs: 30_000 },
  offline: { type: 'went-offline' },
  refused: { type: 'refused', code: 'not-authenticated' },
  stopped: { type: 'stopped' },
} as const satisfies Readonly<Record<string, ConnectionInput>>

const backingOff = (attempt: number, delayMs: number): ConnectionStep => ({
  connection: { status: 'backing-off', attempt, delayMs },
  effect: { type: 'wait', ms: delayMs },
})
const connecting = (attempt: number): ConnectionStep => ({
  connection: { status: 'connecting', attempt },
  effect: { type: 'connect' },
})
const live = (attempt: number): ConnectionStep => ({
  connection: { status: 'live', attempt },
  effect: { type: 'none' },
})
const off: ConnectionStep = { connection: states.offline, effect: { type: 'wait', ms: 10_000 } }
const refused: ConnectionStep = {
  connection: { status: 'refused', code: 'not-authenticated' },
  effect: { type: 'stop' },
}
const idle: ConnectionStep = { connection: states.idle, effect: { type: 'stop' } }
/** The same object: a screen that compares sees that nothing happened. */
const same = 'the same'
const ended = 'the same, and stop'

type Cell = ConnectionStep | typeof same | typeof ended
type Row = Readonly<Record<keyof typeof inputs, Cell>>

const unmoved = (cell: Cell, row: Partial<Row>): Row => ({
  ...(Object.fromEntries(Object.keys(inputs).map((name) => [name, cell])) as Row),
  stopped: idle,
  ...row,
})

const table: Readonly<Record<keyof typeof states, Row>> = {
  idle: unmoved(ended, { started: connecting(0) }),
  refused: unmoved(ended, { started: connecting(0) }),
  backing: unmoved(same, { started: connecting(3) }),
  offline: unmoved(same, { started: connecting(1) }),
  first: unmoved(same, {
    started: connecting(0),
    opened: live(0),
    lost: backingOff(1, 250),
    lostAfterUse: backingOff(1, 250),
    toldToWait: backingOff(1, 30_250),
    offline: off,
    refused,
  }),
  third: unmoved(same, {
    started: connecting(2),
    opened: live(2),
    lost: backingOff(3, 1_000),
    lostAfterUse: backingOff(1, 250),
    toldToWait: backingOff(3, 31_000),
    offline: off,
    refused,
  }),
  live: unmoved(same, {
    started: connecting(2),
    lost: backingOff(3, 1_000),
    lostAfterUse: backingOff(1, 250),
    toldToWait: backingOff(3, 31_000),
    offline: off,
    refused,
  }),
}

describe.each(Object.keys(table) as (keyof typeof states)[])('a connection that is: %s', (name) => {
  it.each(Object.keys(inputs) as (keyof typeof inputs)[])('[RS8] gets the input: %s', (input) => {
    const before = states[name]
    const expected = table[name][input]
    const next = nextConnection(before, inputs[input])
    if (typeof expected !== 'string') expect(next).toEqual(expected)
    else {
      expect(next.connection).toBe(before)
      expect(next.effect).toEqual({ type: expected === ended ? 'stop' : 'none' })
    }
  })
})

it.each([
  [1, 125, 250],
  [2, 250, 500],
  [3, 500, 1_000],
  [6, 4_000, 8_000],
  [7, 5_000, 10_000],
  [50, 5_000, 10_000],
  [5_000, 5_000, 10_000],
])('[RS8] before try %i it waits from %i to %i ms', (attempt, least, most) => {
  expect([backOffMs(attempt, 0), backOffMs(attempt, 1)]).toEqual([least, most])
  const half = backOffMs(attempt, 0.5)
  expect(half).toBeGreaterThan(least)
  expect(half).toBeLessThan(most)
  expect(backOffMs(attempt, 0, 60_000)).toBe(60_000 + least)
})
