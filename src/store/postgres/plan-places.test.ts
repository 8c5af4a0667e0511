import { expect, it } from 'vitest'
import type { NewEvent } from '../../core/event.ts'
import { parseMessageId } from '../../core/ids.ts'
import { planPlaces } from './plan-places.ts'

const at = 1
const [a, b] = [parseMessageId('a'), parseMessageId('b')]
const add = (messageId: typeof a): NewEvent => ({
  type: 'message-added',
  messageId,
  role: 'user',
  parts: [],
  at,
})
const begin = (turnId: typeof a): NewEvent => ({ type: 'turn-started', turnId, replyTo: null, at })
const retire = (...messageIds: readonly (typeof a)[]): NewEvent => ({
  type: 'messages-retired',
  messageIds,
  at,
})

it('asks for what must be shown before, once for each id', () => {
  expect(planPlaces([retire(a, b), add(a), begin(b)])).toEqual({
    shown: [
      { id: a, wanted: true },
      { id: b, wanted: true },
    ],
    retired: [
      { id: a, place: 1 },
      { id: b, place: 1 },
    ],
    retiredAt: new Map(),
  })
})

it('knows what the append itself has added and retired', () => {
  expect(planPlaces([add(a), retire(a), add(a), begin(b), retire(b)])).toEqual({
    shown: [
      { id: a, wanted: false },
      { id: b, wanted: false },
    ],
    retired: [],
    retiredAt: new Map([
      [1, 2],
      [4, 5],
    ]),
  })
})

it('sees that an append contradicts itself', () => {
  expect(planPlaces([add(a), add(a)]).shown).toEqual([
    { id: a, wanted: false },
    { id: a, wanted: false, never: true },
  ])
  expect(planPlaces([retire(a), retire(a)]).shown).toEqual([
    { id: a, wanted: true },
    { id: a, wanted: true, never: true },
  ])
})
