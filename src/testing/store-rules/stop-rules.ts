import assert from 'node:assert/strict'
import type { LeaseUse } from '../../store/lease.ts'
import type { StoreRule } from './store-rule.ts'
import { append, createThread, ended, started, text, thread, turn } from './thread-script.ts'
import { watchStore } from './watch-store.ts'

const acquire = (holder: string): LeaseUse => ({
  kind: 'acquire',
  holder,
  turnId: turn,
  ttlMs: 60_000,
})

export const stopRules: readonly StoreRule[] = [
  {
    id: 'ST1',
    claim: 'reports a request to stop to the holder of the run, and to no later holder',
    async check({ open, reopen }) {
      const first = await open()
      assert.deepEqual(await first.requestStop(thread), { kind: 'no-thread' })
      await createThread(first)
      assert.deepEqual(await first.requestStop(thread), { kind: 'idle' })
      const { fence = -1 } = await append(first, [started()], { lease: acquire('one') })
      assert.deepEqual(await first.requestStop(thread), { kind: 'requested', turnId: turn, fence })
      const store = await reopen(first)
      assert.deepEqual(await store.requestStop(thread), { kind: 'requested', turnId: turn, fence })
      const stored = await append(store, text('Hi'), {
        lease: { kind: 'hold', fence, renewMs: 60_000 },
      })
      assert.equal(stored.stopRequested, true)
      const released = await append(store, [ended()], { lease: { kind: 'release', fence } })
      assert.equal(released.stopRequested, false)
      const next = await append(store, [], { lease: acquire('two') })
      assert.equal(next.stopRequested, false)
      assert.deepEqual(await store.readThread(thread).then((found) => found?.seq), 5)
    },
  },
  {
    id: 'ST1',
    claim: 'notifies of a request to stop, so that the run need not wait for its next commit',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      await append(store, [started()], { lease: acquire('one') })
      const { until, stop } = watchStore(store)
      await store.requestStop(thread)
      assert.equal((await until((notification) => notification.stop === true)).threadId, thread)
      stop()
    },
  },
]
