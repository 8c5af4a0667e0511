import { expect, it } from 'vitest'
import { randomLedger } from '../testing/random-ledger.ts'
import type { MessageId } from './ids.ts'
import { findEventFault, parseEvent } from './parse-event.ts'

const place = { seq: 4, at: 9, turnId: 'turn' as MessageId }

it('[LG7] gives back a good row as the event it was', () => {
  for (let seed = 1; seed <= 60; seed++) {
    for (const event of randomLedger(seed)) {
      const { at, ...body } = event
      const turnId = 'turnId' in body ? body.turnId : null
      expect(findEventFault(event)).toBeUndefined()
      expect(parseEvent({ seq: 1, at, turnId }, body)).toEqual({ ...event, seq: 1 })
    }
  }
})

it.each([
  ['not an object', 'text'],
  ['null', null],
  ['an unknown type', { type: 'call-teleported' }],
  ['a type that every object has', { type: 'constructor' }],
  ['no type', {}],
  ['a missing field', { type: 'text-appended', block: 't' }],
  ['a field of the wrong type', { type: 'call-started', callId: 7 }],
  [
    'an outcome that no call has',
    { type: 'call-settled', callId: 'c', outcome: { state: 'maybe' } },
  ],
  ['a result that is gone', { type: 'call-settled', callId: 'c', outcome: { state: 'succeeded' } }],
  ['a body of the thread', { type: 'thread-renamed', title: 'x' }],
])('[LG7] degrades a row with %s and keeps its place', (_, payload) => {
  expect(parseEvent(place, payload)).toMatchObject({ ...place, type: 'unreadable' })
})
