import assert from 'node:assert/strict'
import { parseMessageId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ListedThread } from '../../core/thread.ts'
import type { Store } from '../../store/store.ts'
import { readChanges, readPage } from './read-thread.ts'
import { commitTogether } from './append-events.ts'
import type { StoreRule } from './store-rule.ts'
import {
  ana,
  append,
  at,
  ben,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  resumed,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  tryAppend,
  turn,
  user,
} from './thread-script.ts'

const numbered = (index: number) => parseThreadId(`thread-${index}`)
const ids = [0, 1, 2, 3, 4, 5, 6].map(numbered)

async function listAll(store: Store, limit: number): Promise<readonly ListedThread[]> {
  const all: ListedThread[] = []
  let before: number | null = null
  while (true) {
    const list: Awaited<ReturnType<Store['listThreads']>> = await store.listThreads({
      ownerId: ana,
      limit,
      before,
    })
    all.push(...list.threads)
    if (!list.hasMore) return all
    assert.equal(list.threads.length, limit)
    before = all.at(-1)?.activity ?? null
  }
}

export const threadRules: readonly StoreRule[] = [
  {
    id: 'LG2',
    claim: 'reads a thread back as it was created, again after reopening',
    async check({ open, reopen }) {
      const store = await open()
      assert.equal(await store.readThread(thread), null)
      const made = await store.createThread({ id: thread, ownerId: ana, title: 'Täglich 😀', at })
      assert.ok(made.kind === 'created')
      const { activity, incarnation: _, ...rest } = made.thread
      assert.deepEqual(rest, {
        id: thread,
        ownerId: ana,
        title: 'Täglich 😀',
        titledBy: 'person',
        pinned: false,
        archived: false,
        metadata: {},
        createdAt: at,
        updatedAt: at,
        seq: 0,
        queue: [],
      })
      assert.ok(activity > 0)
      assert.deepEqual(await store.readThread(thread), made.thread)
      const again = { id: thread, ownerId: ana, title: 'Another', at: at + 1 }
      assert.deepEqual(await store.createThread(again), { kind: 'exists', thread: made.thread })
      assert.deepEqual(await (await reopen(store)).readThread(thread), made.thread)
    },
  },
  {
    id: 'LG2',
    claim: 'makes a thread with its first append, in one commit, and no thread if that is refused',
    async check({ open, reopen }) {
      const store = await open()
      const create = { ownerId: ana, title: 'Täglich 😀', at }
      assert.equal(
        (await tryAppend(store, [messageAdded('no')], { create, expectedSeq: 1 })).kind,
        'stale',
      )
      assert.equal((await tryAppend(store, [ended()], { create })).kind, 'illegal')
      assert.equal(await store.readThread(thread), null)
      const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
      const first = await append(store, [messageAdded('hi'), started()], {
        create,
        lease,
        expectedSeq: 0,
      })
      assert.deepEqual([first.firstSeq, first.seq], [1, 2])
      assert.ok((first.fence ?? 0) > 0)
      const made = await store.readThread(thread)
      assert.ok(made !== null)
      const { activity, incarnation: _, ...rest } = made
      assert.deepEqual(rest, {
        id: thread,
        ownerId: ana,
        title: 'Täglich 😀',
        titledBy: 'person',
        pinned: false,
        archived: false,
        metadata: {},
        createdAt: at,
        updatedAt: at,
        seq: 2,
        queue: [],
      })
      assert.ok(activity > 0)
      const page = await readPage(store)
      assert.deepEqual(
        page.messages.map(({ id }) => id),
        [turn, user],
      )
      assert.deepEqual(await (await reopen(store)).readThread(thread), made)
    },
  },
  {
    id: 'LG2',
    claim: "adds to an existing thread of the owner, and to no other owner's",
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = { ownerId: ana, title: 'Another', at: at + 1 }
      assert.equal((await append(store, [messageAdded('hi')], { create: other })).seq, 1)
      assert.equal((await store.readThread(thread))?.title, '')
      const taken = { create: { ...other, ownerId: ben } }
      const second = messageAdded('mine', parseMessageId('second'))
      assert.equal((await tryAppend(store, [second], taken)).kind, 'no-thread')
      // Another owner does not learn that the thread has changed, either.
      const late = { ...taken, expectedSeq: 0 }
      assert.equal((await tryAppend(store, [second], late)).kind, 'no-thread')
      assert.equal((await store.readThread(thread))?.seq, 1)
      assert.deepEqual(
        (await store.listThreads({ ownerId: ben, limit: 9, before: null })).threads,
        [],
      )
      // Two in one group: the first creates it, the second finds it.
      const [a, b] = ['group-1', 'group-2'].map(parseThreadId) as [ThreadId, ThreadId]
      const results = await commitTogether(store, [
        { threadId: a, events: [messageAdded('1')], create: other, expectedSeq: 0 },
        { threadId: b, events: [messageAdded('2')], create: taken.create, expectedSeq: 0 },
        { threadId: a, events: [second], create: other, expectedSeq: 1 },
        { threadId: b, events: [second], create: other, expectedSeq: 1 },
      ])
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['appended', 'appended', 'appended', 'no-thread'],
      )
      assert.equal((await store.readThread(a))?.seq, 2)
      assert.equal((await store.readThread(b))?.ownerId, ben)
    },
  },
  {
    id: 'HT2',
    claim: 'returns the thread of one owner to no other',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const taken = await store.createThread({ id: thread, ownerId: ben, title: 'Mine', at })
      assert.deepEqual(taken, { kind: 'taken' })
      assert.deepEqual(await store.listThreads({ ownerId: ben, limit: 9, before: null }), {
        threads: [],
        hasMore: false,
      })
      assert.equal((await store.readThread(thread))?.ownerId, ana)
    },
  },
  {
    id: 'PG2',
    claim: 'lists every thread of an owner once, newest activity first, at every page size',
    async check({ open }) {
      const store = await open()
      for (const id of ids) await createThread(store, id)
      const other = parseThreadId('other')
      await store.createThread({ id: other, ownerId: ben, title: '', at })
      for (const index of [2, 5]) {
        await append(store, [messageAdded('Hello')], { threadId: numbered(index) })
      }
      const expected = [5, 2, 6, 4, 3, 1, 0].map(numbered)
      for (let limit = 1; limit <= ids.length + 1; limit++) {
        const listed = await listAll(store, limit)
        assert.deepEqual(
          listed.map((one) => one.id),
          expected,
        )
      }
    },
  },
  {
    id: 'PG4',
    claim: 'continues where a page of the list ended, although threads move to the top meanwhile',
    async check({ open }) {
      const store = await open()
      for (const id of ids) await createThread(store, id)
      const first = await store.listThreads({ ownerId: ana, limit: 3, before: null })
      await append(store, [messageAdded('Hello')], { threadId: numbered(0) })
      await append(store, [messageAdded('Hello')], { threadId: numbered(6) })
      const before = first.threads.at(-1)?.activity ?? null
      const second = await store.listThreads({ ownerId: ana, limit: 3, before })
      assert.deepEqual(
        second.threads.map((one) => one.id),
        [3, 2, 1].map(numbered),
      )
      assert.equal(second.hasMore, false)
    },
  },
  {
    id: 'LG1',
    claim: 'moves a thread up when a message comes or a turn begins or ends, whatever the clock',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      let last = (await store.readThread(thread))?.activity ?? 0
      const moves = async (events: Parameters<typeof append>[1], when: number | null) => {
        const dated = events.map((event) => ({ ...event, at: when ?? event.at }))
        await append(store, dated)
        const now = await store.readThread(thread)
        assert.equal((now?.activity ?? 0) > last, when !== null, JSON.stringify(events))
        if (when !== null) assert.equal(now?.updatedAt, when)
        last = now?.activity ?? 0
      }
      await moves([messageAdded('Hello')], at)
      await moves([started()], at - 1000)
      await moves(text('Hi'), null)
      await moves([recorded(), turnEvent({ type: 'call-started', callId: call })], null)
      await moves([succeeded(1)], null)
      await moves([ended()], at - 2000)
      await moves([resumed()], null)
      await moves([{ type: 'thread-renamed', title: 'Greetings', at }], null)
    },
  },
  {
    id: 'LG4',
    claim: 'shows a new title in the thread and among its changes',
    async check({ open, reopen }) {
      const store = await open()
      await createThread(store)
      const event = { type: 'thread-renamed', title: 'Greetings', at } as const
      await append(store, [messageAdded('Hello'), event])
      const { changes } = await readChanges(store, 1)
      assert.deepEqual(changes, [{ kind: 'event', seq: 2, commit: 2, event: { ...event, seq: 2 } }])
      assert.equal((await (await reopen(store)).readThread(thread))?.title, 'Greetings')
    },
  },
  {
    id: 'OP5b',
    claim: 'keeps the metadata of a thread, and replaces it only where it is as it was read',
    async check({ open, reopen }) {
      let store = await open()
      const metadata = { 'täg "1"': ['a', { b: null }], __proto: 'x', n: 1.5 }
      const made = await store.createThread({ id: thread, ownerId: ana, title: '', metadata, at })
      assert.deepEqual(made.kind === 'created' && made.thread.metadata, metadata)
      await append(store, [messageAdded('Hello')])
      const before = await store.readThread(thread)
      const set = (from: JsonObject, to: JsonObject) =>
        store.setThreadMetadata({ threadId: thread, from, to })
      assert.equal(await set({}, { late: true }), 'stale')
      const next = { text: 'NUL \u0000, half \ud800' }
      assert.equal(await set(metadata, next), 'set')
      assert.equal(await set(metadata, {}), 'stale')
      store = await reopen(store)
      assert.deepEqual(await store.readThread(thread), { ...before, metadata: next })
      const list = await store.listThreads({ ownerId: ana, limit: 9, before: null })
      const { queue: _, incarnation: _drawn, ...listed } = { ...before, metadata: next }
      assert.deepEqual(
        list.threads.map((each) => ({ ...each, incarnation: undefined })),
        [{ ...listed, incarnation: undefined }],
      )
      const nobody = parseThreadId('nobody')
      const gone = await store.setThreadMetadata({ threadId: nobody, from: {}, to: {} })
      assert.equal(gone, 'no-thread')
      const [one, two] = await Promise.all([set(next, { n: 1 }), set(next, { n: 2 })])
      assert.deepEqual([one, two].toSorted(), ['set', 'stale'])
    },
  },
  {
    id: 'OP6',
    claim:
      'changes and deletes the thread that was read, and no other that was created under its id since',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const { incarnation } = (await store.readThread(thread)) ?? {}
      if (incarnation === undefined) return
      await store.deleteThread(thread)
      await createThread(store)
      const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId: turn } as const
      await append(store, [started()], { lease })
      assert.deepEqual(await store.requestStop(thread, { incarnation }), { kind: 'idle' })
      const change = { threadId: thread, from: {}, to: { of: 'the first' } }
      assert.equal(await store.setThreadMetadata({ ...change, incarnation }), 'stale')
      assert.equal(await store.deleteThread(thread, { incarnation }), null)
      const { seq } = await append(store, [messageAdded('Hello')])
      const now = await store.readThread(thread)
      assert.deepEqual(now?.metadata, {})
      const known = { incarnation: now?.incarnation }
      assert.equal(await store.deleteThread(thread, { ...known, expectedSeq: seq - 1 }), null)
      assert.equal(await store.setThreadMetadata({ ...change, ...known }), 'set')
      assert.deepEqual(await store.deleteThread(thread, { ...known, expectedSeq: seq }), {
        messages: 2,
      })
    },
  },
  {
    id: 'LG1',
    claim: 'deletes a thread whole; its id begins anew at 0, and others stay',
    async check({ open, reopen }) {
      let store = await open()
      const other = await createThread(store, parseThreadId('other'))
      await createThread(store)
      const events = [messageAdded('Hello'), started(), recorded(), succeeded('a'), ended()]
      await append(store, events)
      await append(store, [started(parseMessageId('second'))])
      await append(store, [messageAdded('Hello')], { threadId: other })
      assert.deepEqual(await store.deleteThread(thread), { messages: 3 })
      assert.equal(await store.deleteThread(thread), null)

      store = await reopen(store)
      const query = { threadId: thread, limit: 9, results: 'full' } as const
      assert.equal(await store.readThread(thread), null)
      assert.equal(await store.readPage({ ...query, before: null, live: 'include' }), null)
      assert.equal(await store.readChanges({ ...query, after: 0 }), null)
      assert.equal(await store.readMessage(thread, turn), null)
      assert.equal(await store.findTurn(turn), null)
      assert.equal(await store.readCall(thread, call), null)
      assert.deepEqual(await tryAppend(store, []), { kind: 'no-thread' })
      assert.equal((await readPage(store, { threadId: other })).messages.length, 1)
      await createThread(store)
      assert.deepEqual(await readPage(store), {
        ownerId: ana,
        seq: 0,
        messages: [],
        hasMore: false,
        live: null,
        queue: [],
      })
      assert.equal((await append(store, [...events])).firstSeq, 1)
    },
  },
]
