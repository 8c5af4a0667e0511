import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { LeaseUse } from '../../store/lease.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  begun,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  settled,
  started,
  succeeded,
  thread,
  tryAppend,
  turn,
  turnWithCalls,
} from './thread-script.ts'

const second = parseCallId('second')
const acquire: LeaseUse = { kind: 'acquire', holder: 'one', turnId: turn, ttlMs: 60_000 }
const hold = (fence: number | undefined): LeaseUse => ({ kind: 'hold', fence: fence ?? -1 })

/** A run that has started a call. */
async function startRun(store: Store, before: readonly NewEvent[] = []) {
  await createThread(store)
  const { fence } = await append(store, [...before, started()], { lease: acquire })
  const lease = hold(fence)
  await append(store, [recorded(), begun()], { lease })
  return { lease, fence: fence ?? -1 }
}

const stateOf = async (store: Store, id = call) =>
  (await store.readCall(thread, id))?.call.state ?? 'absent'

/** How a store keeps the calls of a running turn is its own affair; what it returns is not. */
export const runRules: readonly StoreRule[] = [
  {
    id: 'CL3',
    claim: 'finds a call of a running turn from its first event on, and when the turn waits',
    async check({ open, reopen }) {
      const first = await open()
      const { lease } = await startRun(first)
      await append(first, [recorded(second, { input: { q: 2 } })], { lease })
      const store = await reopen(first)
      assert.deepEqual([await stateOf(store), await stateOf(store, second)], ['running', 'ready'])
      assert.equal(await stateOf(store, parseCallId('nobody')), 'absent')
      await append(store, [succeeded(1)], { lease })
      await append(store, [turnEvent({ type: 'turn-paused', waitingFor: 'client' })], { lease })
      assert.deepEqual([await stateOf(store), await stateOf(store, second)], ['succeeded', 'ready'])
      await append(store, [succeeded(2, second)])
      const found = await store.readCall(thread, second)
      assert.deepEqual(found?.call.input, { kind: 'complete', value: { q: 2 } })
      assert.equal(found?.call.state, 'succeeded')
    },
  },
  {
    id: 'CR3',
    claim: 'lets the new holder settle the running calls, and not end the turn before that',
    async check({ open, reopen }) {
      const first = await open()
      const { fence } = await startRun(first)
      const store = await reopen(first)
      const taken = await append(store, [], {
        lease: { ...acquire, holder: 'two', overFence: fence },
      })
      const lease = hold(taken.fence)
      const again = await tryAppend(store, [recorded()], { lease })
      assert.deepEqual(again, { kind: 'illegal', subject: 'call', id: call, state: 'running' })
      const early = await tryAppend(store, [ended()], { lease })
      assert.deepEqual(early, { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' })
      const late = await tryAppend(store, [succeeded(1)], { lease: hold(fence) })
      assert.equal(late.kind, 'fenced')
      await append(store, [settled({ state: 'unknown', cause: 'crashed' })], { lease })
      assert.equal(await stateOf(store), 'unknown')
      await append(store, [recorded(second), begun(second), succeeded(2, second)], { lease })
      assert.equal(await stateOf(await reopen(store), second), 'succeeded')
    },
  },
  {
    id: 'CL8',
    claim: 'finds the calls of a turn that its run released without an end',
    async check({ open, reopen }) {
      const first = await open()
      const { fence } = await startRun(first)
      await append(first, [], { lease: { kind: 'release', fence } })
      const store = await reopen(first)
      assert.equal(await stateOf(store), 'running')
      const early = await tryAppend(store, [ended()])
      assert.deepEqual(early, { kind: 'illegal', subject: 'turn', id: turn, state: 'open-calls' })
      await append(store, [succeeded(1), ended()])
      assert.equal(await stateOf(await reopen(store)), 'succeeded')
    },
  },
  {
    id: 'LG10',
    claim: 'does not accept a call of another turn as a new one of a run',
    async check({ open }) {
      const store = await open()
      const { lease } = await startRun(store, turnWithCalls(1, parseMessageId('earlier')))
      const id = parseCallId('earlier-0')
      const failed = settled({ state: 'failed', cause: 'tool-error', error: 'no' }, id)
      const taken = await tryAppend(store, [recorded(second), recorded(id), failed], { lease })
      assert.ok(taken.kind === 'illegal' && taken.subject === 'call', JSON.stringify(taken))
      assert.equal(await stateOf(store, id), 'succeeded')
      assert.equal(await stateOf(store, second), 'absent')
      await append(store, [recorded(second), begun(second)], { lease })
      assert.equal(await stateOf(store, second), 'running')
    },
  },
]
