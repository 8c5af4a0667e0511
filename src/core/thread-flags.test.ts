import { expect, it } from 'vitest'
import { foldThread } from './fold-thread.ts'
import { parseMessageId } from './ids.ts'
import type { LedgerEvent } from './event.ts'

const flagged = (seq: number, flags: { pinned?: boolean; archived?: boolean }): LedgerEvent => ({
  type: 'thread-flagged',
  ...flags,
  at: 1,
  seq,
})
const message = (seq: number): LedgerEvent => ({
  type: 'message-added',
  messageId: parseMessageId(`m${seq}`),
  role: 'user',
  parts: [],
  at: 1,
  seq,
})
const foldOf = (before: object, ...events: readonly LedgerEvent[]) => {
  const changes = events.map((event) => ({ kind: 'event', seq: event.seq, event }) as const)
  const { pinned, archived } = foldThread({ seq: 0, messages: [], ...before }, changes)
  return { pinned, archived }
}

it('[FK2] a follower sees the flags of a thread change, and a message take it out of the archive', () => {
  const known = { pinned: false, archived: false }
  expect(foldOf(known, flagged(1, { archived: true }))).toEqual({ pinned: false, archived: true })
  expect(foldOf(known, flagged(1, { archived: true, pinned: true }), message(2))).toEqual({
    pinned: true,
    archived: false,
  })
  expect(foldOf(known, message(1), flagged(2, { archived: true }))).toMatchObject({
    archived: true,
  })
  // An unknown flag stays unknown until an event sets it.
  expect(foldOf({}, message(1))).toEqual({})
  expect(foldOf({}, flagged(1, { archived: true }), message(2))).toEqual({ archived: false })
})
