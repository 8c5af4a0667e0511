import { expect, it } from 'vitest'
import type { OldCall } from './old-message.ts'
import { openTurn } from './read-messages.ts'

const input = { kind: 'complete', value: {} } as const
const end = { outcome: { state: 'stopped', cause: 'stopped' } } as const

it('[OP7] finds the call of each result by its id, without a search through all calls', () => {
  const count = 2_000
  let reads = 0
  const parts = Array.from({ length: count }, (_, nth): OldCall => {
    const call = { type: 'call', name: 'search', input, outcome: 'open' } as const
    return Object.defineProperty({ ...call }, 'id', {
      enumerable: true,
      get: () => {
        reads++
        return `call-${nth}`
      },
    })
  })
  const open = openTurn({ kind: 'turn', steps: [{ parts }] })
  for (let nth = 0; nth < count; nth++) {
    expect(open.addAnswer({ type: 'answer', callId: `call-${nth}`, end })).toBe(true)
  }
  expect(open.addAnswer({ type: 'answer', callId: 'call-1', end })).toBe(false)
  expect(reads).toBeLessThanOrEqual(4 * count)
})

it('[LE1] of several open calls with one id the last one gets the result, then the one before it', () => {
  const call = (name: string): OldCall => ({ type: 'call', id: 'c', name, input, outcome: 'open' })
  const open = openTurn({ kind: 'turn', steps: [{ parts: [call('a'), call('b')] }] })
  const ended = () =>
    open.turn().steps[0]?.parts.map((part) => part.type === 'call' && part.outcome !== 'open')
  open.addAnswer({ type: 'answer', callId: 'c', end })
  expect(ended()).toEqual([false, true])
  open.addAnswer({ type: 'answer', callId: 'c', end })
  expect(ended()).toEqual([true, true])
})
