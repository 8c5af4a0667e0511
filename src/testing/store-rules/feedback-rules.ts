import assert from 'node:assert/strict'
import type { NewTurnEvent } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  messageAdded,
  started,
  succeeded,
  recorded,
  begun,
  text,
  thread,
  tryAppend,
  turn,
  turnEvent,
} from './thread-script.ts'

const given = (
  by: string,
  rating: 'up' | 'down' | null,
  more: { readonly comment?: string } = {},
): NewTurnEvent => turnEvent({ type: 'feedback-given', by, rating, ...more })

async function readTurn(store: Store): Promise<Turn> {
  const found = await store.findTurn(turn)
  assert.ok(found !== null)
  return found.turn
}

const answered = [
  messageAdded('hello'),
  started(),
  ...text('hi'),
  recorded(),
  begun(),
  succeeded('yes'),
  ended(),
]

export const feedbackRules: readonly StoreRule[] = [
  {
    id: 'FK4',
    claim:
      'keeps the last feedback of each person on an ended answer, and changes nothing else of it',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, answered)
      const before = await readTurn(store)
      const { seq } = await append(store, [given('ana', 'down', { comment: 'No. 😀\n"\\' })], {
        turns: [before],
      })
      await append(store, [given('ben', 'up')], { turns: [await readTurn(store)] })
      await append(store, [given('ana', 'up')], { turns: [await readTurn(store)] })
      const ratings = [
        { by: 'ben', rating: 'up', at },
        { by: 'ana', rating: 'up', at },
      ]
      const after = await readTurn(store)
      assert.deepEqual(after, { ...before, feedback: ratings, lastSeq: seq + 2 })
      const page = await store.readPage({
        ...{ threadId: thread, limit: 1, before: null, live: 'include', results: 'full' },
      })
      assert.deepEqual(page?.messages, [after])
      await append(store, [given('ana', null), given('ben', null)], { turns: [after] })
      assert.deepEqual(await readTurn(store), { ...before, lastSeq: seq + 4 })
    },
  },
  {
    id: 'FK4',
    claim: 'sends feedback to followers, and keeps it with an answer that waits or is hidden',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, [
        ...[messageAdded('hello'), started(), recorded(), begun()],
        turnEvent({ type: 'turn-paused', waitingFor: 'client' }),
      ])
      const waiting = await readTurn(store)
      const { seq } = await append(store, [given('ana', 'down', { comment: 'slow' })], {
        turns: [waiting],
      })
      const feedback = [{ by: 'ana', rating: 'down', comment: 'slow', at }]
      assert.deepEqual((await readTurn(store)).feedback, feedback)
      await append(store, [succeeded('late'), ended()], { turns: [await readTurn(store)] })
      assert.deepEqual((await readTurn(store)).feedback, feedback)
      const kept = { after: 1, places: [2] }
      const hidden = { type: 'messages-retired', messageIds: [turn], kept, at } as const
      await append(store, [hidden])
      await append(store, [given('ana', 'up')], { turns: [await readTurn(store)] })
      await append(store, [{ type: 'messages-shown', places: [2], at }])
      const page = await store.readPage({
        ...{ threadId: thread, limit: 2, before: null, live: 'include', results: 'full' },
      })
      const last = page?.messages[0] as Turn
      assert.deepEqual(last.feedback, [{ by: 'ana', rating: 'up', at }])
      // A follower that held the turn before gets the change.
      const view = { seq: seq - 1, from: 2, messages: [waiting] }
      const changes = await store.readChanges({
        ...{ threadId: thread, after: seq - 1, limit: 100, results: 'full' },
      })
      assert.ok(changes !== null)
      const held = foldThread(view, changes.changes).messages.find(({ id }) => id === turn) as
        | Turn
        | undefined
      if (held !== undefined) assert.deepEqual(held.feedback, last.feedback)
    },
  },
  {
    id: 'FK4',
    claim: 'refuses feedback on a running turn, and on one that does not exist',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, [messageAdded('hello'), started()])
      const running = await tryAppend(store, [given('ana', 'up')], {
        turns: [await readTurn(store)],
      })
      assert.equal(running.kind, 'illegal')
      const turnId = parseMessageId('nowhere')
      const none = await tryAppend(store, [{ ...given('ana', 'up'), turnId }])
      assert.equal(none.kind, 'illegal')
    },
  },
]
