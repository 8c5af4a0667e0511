import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import { readAllPages, readChanges } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  messageAdded,
  started,
  text,
  thread,
  turn,
} from './thread-script.ts'

const [first, second] = [parseMessageId('first'), parseMessageId('second')]
const callId = parseCallId('call-1')

/** A turn with one call that ended in this state. */
const callTurn = (state: 'interrupted' | 'succeeded'): readonly NewEvent[] => [
  started(),
  {
    type: 'call-recorded',
    turnId: turn,
    at,
    callId,
    call: { id: callId, providerCallId: 'p', name: 'search' },
    input: {},
    approval: 'not-required',
  },
  {
    type: 'call-settled',
    turnId: turn,
    at,
    callId,
    outcome:
      state === 'succeeded'
        ? { state, output: { kind: 'inline', value: 42 } }
        : { state, cause: 'crashed' },
  },
  ended(),
]

export const rewriteRules: readonly StoreRule[] = [
  {
    id: 'LE8',
    claim: 'rewrites a thread from a message on, under the same ids, and notifies its followers',
    async check({ open, reopen }) {
      let store = await open()
      if (store.rewriteThread === undefined) return
      await createThread(store)
      await append(store, [messageAdded('One', first)])
      await append(store, callTurn('interrupted'))
      const { seq, changes } = await readChanges(store, 0)
      const follower = foldThread({ seq: 0, messages: [] }, changes)
      const retired = { type: 'messages-retired', messageIds: [turn], from: 2, at } as const
      const rewrite = {
        threadId: thread,
        from: 2,
        appends: [[retired, messageAdded('Two', second)], callTurn('succeeded')],
      }
      assert.equal(await store.rewriteThread({ ...rewrite, expectedSeq: seq - 1 }), 'stale')
      const other = { ...rewrite, expectedSeq: seq, incarnation: 'another' }
      assert.equal(await store.rewriteThread(other), 'stale')
      assert.equal(await store.rewriteThread({ ...rewrite, expectedSeq: seq }), 'rewritten')
      store = await reopen(store)
      const shown = (await readAllPages(store, 2)).toReversed()
      assert.deepEqual(
        shown.map(({ id }) => id),
        [first, second, turn],
      )
      const states = shown
        .filter(isTurn)
        .flatMap((one) => [...callsOf(one)].map((call) => call.state))
      assert.deepEqual(states, ['succeeded'])
      // A follower of the old thread gets the new one by reading on.
      const more = await readChanges(store, seq)
      assert.deepEqual(foldThread(follower, more.changes).messages, shown)
      const anew = await readChanges(store, 0)
      assert.deepEqual(foldThread({ seq: 0, messages: [] }, anew.changes).messages, shown)
    },
  },
  {
    id: 'LE8',
    claim: 'rewrites nothing of a thread if an event is not allowed, or while a turn runs',
    async check({ open }) {
      const store = await open()
      if (store.rewriteThread === undefined) return
      await createThread(store)
      await append(store, [messageAdded('One', first), started(), ...text('Hi'), ended()])
      const { seq } = await readChanges(store, 0)
      const retired = { type: 'messages-retired', messageIds: [turn], from: 2, at } as const
      const appends = [[retired, messageAdded('Again', first)]]
      const rewrite = { threadId: thread, expectedSeq: seq, from: 2, appends }
      await assert.rejects(store.rewriteThread(rewrite), { code: 'bad-event' })
      assert.deepEqual(
        (await readAllPages(store, 2)).map(({ id }) => id),
        [turn, first],
      )
      const live = parseMessageId('live')
      await append(store, [started(live)], {
        lease: { kind: 'acquire', holder: 'somebody', ttlMs: 60_000, turnId: live },
      })
      const now = (await readChanges(store, 0)).seq
      assert.equal(await store.rewriteThread({ ...rewrite, expectedSeq: now }), 'leased')
    },
  },
]
