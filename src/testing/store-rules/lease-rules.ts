import assert from 'node:assert/strict'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { LeaseUse } from '../../store/lease.ts'
import { readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  createThread,
  ended,
  messageAdded,
  started,
  text,
  thread,
  tryAppend,
  turn,
} from './thread-script.ts'

const acquire = (holder: string, more: { ttlMs?: number; overFence?: number } = {}): LeaseUse => ({
  kind: 'acquire',
  holder,
  turnId: turn,
  ttlMs: 60_000,
  ...more,
})
const hold = (fence: number | undefined, renewMs?: number): LeaseUse => ({
  kind: 'hold',
  fence: fence ?? -1,
  ...(renewMs === undefined ? {} : { renewMs }),
})
const release = (fence: number | undefined): LeaseUse => ({ kind: 'release', fence: fence ?? -1 })

export const leaseRules: readonly StoreRule[] = [
  {
    id: 'CR2',
    claim: 'leases a thread to one run at a time, and returns its holder',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const { fence } = await append(first, [started()], { lease: acquire('one') })
      assert.ok(fence !== undefined)
      const store = await reopen(first)
      const leased = { kind: 'leased', holder: 'one', turnId: turn, fence }
      for (const holder of ['two', 'one']) {
        const events = [messageAdded('Hello')]
        assert.deepEqual(await tryAppend(store, events, { lease: acquire(holder) }), leased)
      }
      assert.equal((await readPage(store)).seq, 1)
      assert.deepEqual(await append(store, text('Hi'), { lease: hold(fence) }), {
        kind: 'appended',
        firstSeq: 2,
        seq: 4,
        fence,
        stopRequested: false,
      })
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      const other = await createThread(store, parseThreadId('other'))
      await append(store, [], { threadId: other, lease: acquire('two') })
    },
  },
  {
    id: 'CR2',
    claim: 'lets exactly one of two writers acquire a free thread',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const results = await Promise.all(
        ['one', 'two', 'three'].map((holder) =>
          tryAppend(store, [started(parseMessageId(holder))], { lease: acquire(holder) }),
        ),
      )
      assert.deepEqual(results.map((result) => result.kind).sort(), [
        'appended',
        'leased',
        'leased',
      ])
      assert.equal((await readPage(store)).messages.length, 1)
    },
  },
  {
    id: 'CR2',
    claim: 'leases an expired run to the next writer; the holder before can write nothing',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const { fence } = await append(first, [started()], { lease: acquire('one', { ttlMs: 0 }) })
      const abandoned = [{ threadId: thread, turnId: turn, holder: 'one', fence }]
      assert.deepEqual(await first.findAbandonedRuns(10), abandoned)
      assert.deepEqual(await first.findAbandonedRuns(0), [])
      const store = await reopen(first)
      const taken = await append(store, [], { lease: acquire('two') })
      assert.ok(taken.fence !== undefined && fence !== undefined && taken.fence > fence)
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      const fenced = { kind: 'fenced', fence: taken.fence }
      for (const lease of [hold(fence), hold(fence, 60_000), release(fence)]) {
        assert.deepEqual(await tryAppend(store, text('Late'), { lease }), fenced)
      }
      assert.equal((await readPage(store)).seq, 1)
      await append(store, text('Hi'), { lease: hold(taken.fence) })
    },
  },
  {
    id: 'CR2',
    claim: 'still accepts writes of an expired run, while no other has taken over',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const { fence } = await append(store, [started()], { lease: acquire('one', { ttlMs: 0 }) })
      await append(store, text('Hi'), { lease: hold(fence, 60_000) })
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      assert.equal((await tryAppend(store, [], { lease: acquire('two') })).kind, 'leased')
    },
  },
  {
    id: 'CR2',
    claim: 'lets no run of a deleted thread write to one that was made again under its id',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const fences = new Set<number | undefined>()
      for (let round = 0; round < 4; round++) {
        const { fence } = await append(store, [started()], { lease: acquire('one') })
        for (const late of fences) {
          assert.equal((await tryAppend(store, text('Late'), { lease: hold(late) })).kind, 'fenced')
        }
        fences.add(fence)
        // Some threads have more than one run.
        let last = fence ?? -1
        for (let more = 0; more < round; more++) {
          const taken = await append(store, [], { lease: acquire('two', { overFence: last }) })
          last = taken.fence ?? -1
          fences.add(taken.fence)
        }
        await store.deleteThread(thread)
        await createThread(store)
      }
      assert.equal(fences.size, 4 + 1 + 2 + 3)
    },
  },
  {
    id: 'CR2',
    claim: 'takes a lease from a live holder only with its fence',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const { fence = -1 } = await append(store, [started()], { lease: acquire('one') })
      for (const overFence of [fence - 1, fence + 1]) {
        const lease = acquire('two', { overFence })
        assert.equal((await tryAppend(store, [], { lease })).kind, 'leased')
      }
      const results = await Promise.all(
        ['two', 'three'].map((holder) =>
          tryAppend(store, [], { lease: acquire(holder, { overFence: fence }) }),
        ),
      )
      assert.deepEqual(results.map((result) => result.kind).sort(), ['appended', 'leased'])
      assert.equal((await tryAppend(store, [], { lease: hold(fence) })).kind, 'fenced')
    },
  },
  {
    id: 'CR2',
    claim: 'frees a thread with the commit that releases it, and the fence keeps growing',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const { fence = -1 } = await append(store, [started()], { lease: acquire('one') })
      await append(store, [ended()], { lease: release(fence) })
      for (const lease of [hold(fence), release(fence)]) {
        const late = [started(parseMessageId('late'))]
        assert.deepEqual(await tryAppend(store, late, { lease }), { kind: 'fenced', fence })
      }
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      const next = await append(store, [], { lease: acquire('one') })
      assert.ok((next.fence ?? -1) > fence)
    },
  },
  {
    id: 'CR2',
    claim: 'leaves the lease as it was when the append is refused, and writes nothing without it',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const illegal = await tryAppend(store, [ended()], { lease: acquire('one') })
      assert.equal(illegal.kind, 'illegal')
      const stale = await tryAppend(store, [], { lease: acquire('one'), expectedSeq: 7 })
      assert.equal(stale.kind, 'stale')
      assert.deepEqual(await store.requestStop(thread), { kind: 'idle' })
      const { fence } = await append(store, [started()], { lease: acquire('two') })
      const refused = await tryAppend(store, [started()], { lease: release(fence) })
      assert.equal(refused.kind, 'illegal')
      await append(store, [ended()], { lease: hold(fence) })
    },
  },
  {
    id: 'CR2',
    claim: 'counts the time of a lease by its own clock, from each renewal',
    async check({ open, clock }) {
      if (clock === null) return
      const store = await open()
      await createThread(store)
      const lease = acquire('one', { ttlMs: 1000 })
      const { fence } = await append(store, [started()], { lease })
      clock.advance(999)
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      await append(store, text('Hi'), { lease: hold(fence, 1000) })
      clock.advance(999)
      assert.deepEqual(await store.findAbandonedRuns(10), [])
      await append(store, [], { lease: hold(fence) })
      clock.advance(1)
      assert.equal((await store.findAbandonedRuns(10)).length, 1)
      await append(store, [], { lease: acquire('two') })
    },
  },
]
