import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { type MessageId, parseMessageId } from '../../core/ids.ts'
import type { InputMode } from '../../core/queued-input.ts'
import type { LeaseUse } from '../../store/lease.ts'
import type { Store } from '../../store/store.ts'
import { commitTogether } from './append-events.ts'
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
  tryAppend,
  turn,
  turnEvent,
} from './thread-script.ts'

const [first, second, third] = ['first', 'second', 'third'].map(parseMessageId) as [
  MessageId,
  MessageId,
  MessageId,
]
const next = parseMessageId('next-turn')

const acquire = (turnId: MessageId, overFence?: number): LeaseUse => ({
  ...{ kind: 'acquire', holder: 'one', turnId, ttlMs: 60_000 },
  ...(overFence === undefined ? {} : { overFence }),
})

const queued = (id: MessageId, mode: InputMode = 'queue'): NewEvent => ({
  type: 'input-queued',
  input: { id, mode, parts: [{ type: 'text', text: `text of ${id}` }], choices: { model: 'a' } },
  at,
})

/** The queue from every read that has it: all must return the same. */
async function readQueue(store: Store): Promise<readonly string[]> {
  const record = await store.readThread(thread)
  const page = await store.readPage({
    ...{ threadId: thread, limit: 1, before: null, live: 'include', results: 'full' },
  })
  const changes = await store.readChanges({
    ...{ threadId: thread, after: 0, limit: 1_000, results: 'full' },
  })
  const found = await store.findTurn(turn)
  assert.deepEqual(page?.queue, record?.queue)
  assert.deepEqual(changes?.queue, record?.queue)
  assert.deepEqual(found?.queue ?? record?.queue, record?.queue)
  const view = foldThread({ seq: 0, messages: [] }, changes?.changes ?? [])
  assert.deepEqual(view.queue ?? [], record?.queue)
  return (record?.queue ?? []).map(({ id, held }) => (held ? `${id} (held)` : id))
}

export const queueRules: readonly StoreRule[] = [
  {
    id: 'IN6',
    claim:
      'finds what joined a turn or was withdrawn by its id, for as long as it is in the thread',
    async check({ open, reopen }) {
      const opened = await open()
      if (opened.findInput === undefined) return
      await createThread(opened)
      const joins = (id: MessageId, turnId: MessageId) =>
        turnEvent({ type: 'input-joined', messageId: id, parts: [] }, turnId)
      await append(opened, [messageAdded('Hi'), started()])
      await append(opened, [queued(first, 'steer'), queued(second)])
      await append(opened, [joins(first, turn), ended()])
      await append(opened, [{ type: 'input-withdrawn', messageId: second, at }])
      const end = await append(opened, [messageAdded('Ho', next)])
      const store = await reopen(opened)
      const find = (id: MessageId) => store.findInput?.(thread, id)
      assert.deepEqual(await find(first), { turnId: turn })
      assert.deepEqual(await find(second), { turnId: null })
      assert.deepEqual([await find(third), await find(turn), await find(next)], [null, null, null])
      assert.equal(await store.findInput?.('nowhere', first), null)
      if (store.rewriteThread !== undefined) {
        const retired = { type: 'messages-retired', messageIds: [turn], from: 2, at } as const
        const again = [started(), joins(third, turn), ended()]
        const appends = [[retired, ...again]]
        await store.rewriteThread({ threadId: thread, expectedSeq: end.seq, from: 2, appends })
        assert.deepEqual([await find(first), await find(third)], [null, { turnId: turn }])
      }
      await store.deleteThread(thread)
      await createThread(store)
      assert.deepEqual([await find(second), await find(third)], [null, null])
    },
  },
  {
    id: 'IN2',
    claim: 'keeps the waiting inputs in order, and returns the same in every read',
    async check({ open, reopen }) {
      const opened = await open()
      await createThread(opened)
      assert.deepEqual(await readQueue(opened), [])
      await append(opened, [messageAdded('Hi'), started()])
      await append(opened, [queued(first), queued(second)])
      await append(opened, [queued(third)])
      const store = await reopen(opened)
      assert.deepEqual(await readQueue(store), [first, second, third])
      const [kept] = (await store.readThread(thread))?.queue ?? []
      assert.deepEqual(kept, {
        id: first,
        mode: 'queue',
        parts: [{ type: 'text', text: 'text of first' }],
        choices: { model: 'a' },
        held: false,
        at,
      })
      const parts = [{ type: 'text', text: 'other words' }] as const
      await append(store, [{ type: 'input-revised', messageId: third, before: first, at }])
      await append(store, [
        { type: 'input-revised', messageId: first, parts, before: null, at },
        { type: 'input-withdrawn', messageId: second, at },
      ])
      assert.deepEqual(await readQueue(store), [third, first])
      assert.deepEqual((await store.readThread(thread))?.queue.at(-1)?.parts, parts)
      await append(store, [{ type: 'queue-held', at }])
      assert.deepEqual(await readQueue(store), ['third (held)', 'first (held)'])
      await append(store, [{ type: 'queue-released', at }, queued(second, 'interrupt')])
      assert.deepEqual(await readQueue(store), [second, third, first])
    },
  },
  {
    id: 'IN2',
    claim:
      'begins the next turn in the commit that ends the one before, and removes its input from the queue',
    async check({ open, reopen }) {
      const store = await open()
      await createThread(store)
      const { fence = -1 } = await append(store, [messageAdded('Hi'), started()], {
        lease: acquire(turn),
      })
      await append(store, [queued(first), queued(second)])
      const end = [ended(), messageAdded('text of first', first), started(next)]
      const refused = await tryAppend(store, end, { lease: acquire(next) })
      assert.equal(refused.kind, 'leased')
      assert.deepEqual(await readQueue(store), [first, second])
      const begun = await append(store, end, { lease: acquire(next, fence) })
      assert.ok((begun.fence ?? 0) > fence)
      const again = await reopen(store)
      assert.deepEqual(await readQueue(again), [second])
      const late = await tryAppend(again, [], { lease: { kind: 'hold', fence } })
      assert.equal(late.kind, 'fenced')
    },
  },
  {
    id: 'IN3',
    claim: 'removes an input that joined a turn, also when the turn has become its snapshot',
    async check({ open, reopen }) {
      const opened = await open()
      await createThread(opened)
      await append(opened, [
        messageAdded('Hi'),
        started(),
        turnEvent({ type: 'step-started', step: 0 }),
      ])
      await append(opened, [queued(first, 'steer'), queued(second)])
      const parts = [{ type: 'text', text: 'text of first' }] as const
      await append(opened, [
        ...text('Hello'),
        turnEvent({ type: 'step-ended', finishReason: 'stop' }),
        turnEvent({ type: 'input-joined', messageId: first, parts, metadata: { from: 'ana' } }),
      ])
      assert.deepEqual(await readQueue(opened), [second])
      await append(opened, [ended()])
      const store = await reopen(opened)
      assert.deepEqual(await readQueue(store), [second])
      const found = await store.readMessage(thread, turn)
      const last = found?.role === 'assistant' ? found.steps.at(-1)?.parts.at(-1) : undefined
      const joined = { type: 'steering', id: first, parts, metadata: { from: 'ana' }, at }
      assert.deepEqual(last, joined)
    },
  },
  {
    id: 'IN2',
    claim: 'lets exactly one of two writers win that take the same input at the same seq',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, [messageAdded('Hi'), started()])
      const { seq: expectedSeq } = await append(store, [queued(first)])
      const queue = (await store.readThread(thread))?.queue ?? []
      const claim = { threadId: thread, expectedSeq, queue }
      const results = await commitTogether(store, [
        { ...claim, events: [{ type: 'input-withdrawn', messageId: first, at }] },
        { ...claim, events: [ended(), messageAdded('text of first', first), started(next)] },
      ])
      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['appended', 'stale'])
      assert.deepEqual(await readQueue(store), [])
    },
  },
  {
    id: 'IN4',
    claim: 'requests a stop of the named turn only, so that the next one is not stopped instead',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const { fence } = await append(store, [started()], { lease: acquire(turn) })
      assert.deepEqual(await store.requestStop(thread, { turnId: next }), { kind: 'idle' })
      const requested = { kind: 'requested', turnId: turn, fence }
      assert.deepEqual(await store.requestStop(thread, { turnId: turn }), requested)
    },
  },
  {
    id: 'IN2',
    claim: 'is not rewritten while anything waits',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, [messageAdded('Hi'), started(), ...text('Hello'), ended(), queued(first)])
      const retired = { type: 'messages-retired', messageIds: [turn], from: 2, at } as const
      const { seq: expectedSeq = 0 } = (await store.readThread(thread)) ?? {}
      const rewrite = { threadId: thread, expectedSeq, from: 2, appends: [[retired]] }
      assert.equal((await store.rewriteThread?.(rewrite)) ?? 'leased', 'leased')
      assert.deepEqual(await readQueue(store), [first])
    },
  },
]
