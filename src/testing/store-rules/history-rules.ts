import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { ThreadPlace } from '../../core/thread-place.ts'
import { placeAfter } from '../../protocol/place-text.ts'
import { isOtherHistory } from '../../store/place-evidence.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import { commitTogether } from './append-events.ts'
import {
  ana,
  append,
  at,
  call,
  createThread,
  ended,
  recorded,
  messageAdded,
  succeeded,
  started,
  text,
  thread,
  tryAppend,
  turn,
  user,
} from './thread-script.ts'

/** The places of a reader of all changes after each of them, and of a reader of a page. */
async function readPlaces(store: Store): Promise<readonly ThreadPlace[]> {
  const query = { threadId: thread, results: 'full' } as const
  const read = await store.readChanges({ ...query, after: 0, limit: 1_000 })
  const page = await store.readPage({ ...query, limit: 1, before: null, live: 'include' })
  assert.ok(page?.place !== undefined && read !== null)
  const places = read.changes.map((change) => placeAfter(change, read.incarnation ?? ''))
  return [...places, page.place]
}

async function isOther(store: Store, place: ThreadPlace): Promise<boolean> {
  const found = await store.readPlace?.(thread, place.seq)
  assert.ok(found != null, 'a place of a thread that is there')
  // Optional: a store of an older version has none.
  assert.equal(found.ownerId ?? ana, ana)
  return isOtherHistory(place, found)
}

async function areOther(store: Store, places: readonly ThreadPlace[]): Promise<readonly boolean[]> {
  const found: boolean[] = []
  for (const place of places) found.push(await isOther(store, place))
  return found
}

const all = (places: readonly ThreadPlace[], value: boolean) => places.map(() => value)

const [second, third] = [parseMessageId('second'), parseMessageId('third')]

const input = { id: third, mode: 'queue', parts: [{ type: 'text', text: 'Later' }] } as const

/** The events that are about no message and no turn: a place after one has no subject. */
const withoutSubject: readonly NewEvent[] = [
  { type: 'thread-renamed', title: 'Another', at },
  { type: 'thread-flagged', pinned: true, at },
  { type: 'input-queued', input, at },
  { type: 'queue-held', at },
  { type: 'queue-released', at },
  { type: 'messages-retired', messageIds: [user], kept: { after: 0, places: [1] }, at },
  { type: 'messages-shown', places: [1], at },
  { type: 'thread-forked', from: { threadId: parseThreadId('origin'), messageId: user }, at },
]

const appendWithoutSubject = async (store: Store): Promise<void> => {
  for (const event of withoutSubject) await append(store, [event], { queue: [] })
}

const readAll = (store: Store) =>
  store.readChanges({ threadId: thread, results: 'full', after: 0, limit: 1_000 })

/** For stores with `readPlace`; a store without it accepts every place. */
export const historyRules: readonly StoreRule[] = [
  {
    id: 'OP6',
    claim: 'accepts every place that it returned, while a turn runs and after it has ended',
    async check({ open, reopen }) {
      const first = await open()
      if (first.readPlace === undefined) return
      await createThread(first)
      const begin = await readPlaces(first)
      await append(first, [messageAdded('Hi'), started()])
      for (const event of [...text('One'), ...text('Two')]) await append(first, [event])
      await appendWithoutSubject(first)
      const running = await readPlaces(first)
      const store = await reopen(first)
      assert.deepEqual(
        await areOther(store, [...begin, ...running]),
        all([...begin, ...running], false),
      )
      await append(store, [ended()])
      await append(store, [messageAdded('And?', second)])
      await appendWithoutSubject(store)
      const places = [...begin, ...running, ...(await readPlaces(store))]
      assert.deepEqual(await areOther(store, places), all(places, false))
      assert.equal(await store.readPlace?.('other', 1), null)
    },
  },
  {
    id: 'OP6',
    claim: 'distinguishes a thread that was made again from the one before, whatever its seq',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      const empty = await readPlaces(store)
      await append(store, [messageAdded('Hi'), started(), ...text('One'), ended()])
      const places = [...empty, ...(await readPlaces(store))]
      await store.deleteThread(thread)
      await createThread(store)
      assert.deepEqual(await areOther(store, places), all(places, true))
      await append(store, [messageAdded('Hi'), started(), ...text('One'), ended()])
      await append(store, [
        messageAdded('And?', second),
        messageAdded('More?', third),
        messageAdded('Still more?', parseMessageId('fourth')),
      ])
      assert.deepEqual(await areOther(store, places), all(places, true))
    },
  },
  {
    id: 'OP6',
    claim: 'returns the same incarnation with everything that a writer plans on',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      const read = async () => {
        await append(store, [messageAdded('Hi'), started(), recorded()])
        const incarnation = (await store.findTurn(turn))?.incarnation
        assert.ok(incarnation !== undefined)
        const others = [
          await store.readThread(thread),
          await store.readCall(thread, call),
          await store.readPath(thread, turn),
        ]
        for (const found of others) assert.equal(found?.incarnation, incarnation)
        for (const place of await readPlaces(store)) assert.equal(place.incarnation, incarnation)
        const seqs = await store.readSeqs?.([thread, parseThreadId('nowhere')])
        if (seqs !== undefined) assert.deepEqual([...seqs], [[thread, { seq: 3, incarnation }]])
        return incarnation
      }
      const before = await read()
      await store.deleteThread(thread)
      await createThread(store)
      assert.notEqual(await read(), before)
    },
  },
  {
    id: 'OP6',
    claim: 'distinguishes a commit from another one with the same seqs, as after a restore',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      await append(store, [messageAdded('Hi'), started()])
      for (const event of text('One')) await append(store, [event])
      // Of an event about another message or turn, or about none.
      const lost = (places: readonly ThreadPlace[]) =>
        ['another', ''].flatMap((subject) =>
          places.map((place) => ({ ...place, mark: 'another', subject })),
        )
      const running = await readPlaces(store)
      assert.deepEqual(await areOther(store, lost(running)), all(lost(running), true))
      const [beyond] = running
      assert.ok(beyond !== undefined)
      assert.equal(await isOther(store, { ...beyond, seq: 1_000 }), true)
      await append(store, [ended()])
      await append(store, [messageAdded('And?', second)])
      const later = [...running, ...(await readPlaces(store))]
      assert.deepEqual(await areOther(store, lost(later)), all(lost(later), true))
      // Unknown fields are not compared: places of an older version, and bare seqs.
      const bare = later.map(({ seq }) => ({ seq, incarnation: '', mark: '', subject: '' }))
      assert.deepEqual(await areOther(store, bare), all(bare, false))
    },
  },
  {
    id: 'OP6',
    claim: 'stores nothing that was planned on a thread that was made again, at the same seq too',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      const make = async () => {
        await createThread(store)
        await append(store, [messageAdded('Hi'), started(), recorded()])
        return (await store.findTurn(turn))?.incarnation
      }
      const gone = await make()
      await store.deleteThread(thread)
      const incarnation = await make()
      assert.notEqual(incarnation, gone)
      const expectedSeq = 3
      const before = await readAll(store)
      const create = { ownerId: ana, title: '', at }
      const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
      // One of each kind of write: events, a call, a turn that begins or ends, the thread itself, a lease alone.
      const planned: readonly (readonly [readonly NewEvent[], Partial<Append>])[] = [
        [text('One'), {}],
        [[succeeded(1)], {}],
        [[messageAdded('And?', second), started(third)], { lease }],
        [[messageAdded('And?', second)], { create }],
        [[succeeded(1), ended()], {}],
        [[{ type: 'thread-renamed', title: 'Gone', at }], {}],
        [[], { lease }],
      ]
      for (const [events, more] of planned) {
        const old = { ...more, expectedSeq, incarnation: gone }
        assert.deepEqual(await tryAppend(store, events, old), { kind: 'stale', seq: 3 })
      }
      if (store.audit !== undefined) {
        const steps = [
          { kind: 'set-seq', seq: 9, problem: 'planned', note: 'on the old one' },
        ] as const
        const repair = { threadId: thread, expectedSeq, at, steps }
        assert.equal(await store.audit.repair({ ...repair, incarnation: gone }), 'stale')
        const rows = []
        for await (const some of store.audit.scan(thread)) rows.push(...some)
        const [found] = rows.filter(({ kind }) => kind === 'thread')
        assert.deepEqual(found, { ...found, seq: expectedSeq, incarnation })
      }
      const both = [text('One'), text('Two')].map((events) => ({ threadId: thread, events }))
      const claims = [{ incarnation: gone }, { incarnation }]
      const results = await commitTogether(
        store,
        both.map((one, index) => ({ ...one, expectedSeq, ...claims[index] })),
      )
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['stale', 'appended'],
      )
      const after = await readAll(store)
      assert.deepEqual(after?.changes.slice(0, before?.changes.length), before?.changes)
      assert.equal(after?.seq, 6)
      // An unknown one is not compared.
      for (const unknown of ['', undefined]) {
        await append(store, [], { incarnation: unknown })
      }
      // Nor is a thread created for a writer that has read one.
      await store.deleteThread(thread)
      const late = { create, expectedSeq: 0, incarnation }
      assert.deepEqual(await tryAppend(store, [messageAdded('Late')], late), {
        kind: 'stale',
        seq: 0,
      })
      assert.equal(await store.readThread(thread), null)
    },
  },
]
