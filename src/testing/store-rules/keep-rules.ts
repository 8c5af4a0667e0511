import assert from 'node:assert/strict'
import type { NewThreadEvent } from '../../core/event.ts'
import { parseMessageId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { Store, ThreadFilter } from '../../store/store.ts'
import { readChanges } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  ana,
  append,
  at,
  ben,
  createThread,
  ended,
  messageAdded,
  started,
  text,
  thread,
  turn,
} from './thread-script.ts'

const numbered = (index: number) => parseThreadId(`kept-${index}`)
const all = [0, 1, 2, 3, 4, 5, 6, 7]

const flag = (store: Store, threadId: ThreadId, flags: { pinned?: boolean; archived?: boolean }) =>
  append(store, [{ type: 'thread-flagged', ...flags, at }], { threadId })

async function listIds(
  store: Store,
  limit: number,
  filter: ThreadFilter | undefined,
): Promise<readonly ThreadId[]> {
  const ids: ThreadId[] = []
  for (let before: number | null = null; ;) {
    const query = { ownerId: ana, limit, before, ...(filter === undefined ? {} : { filter }) }
    const list: Awaited<ReturnType<Store['listThreads']>> = await store.listThreads(query)
    ids.push(...list.threads.map(({ id }) => id))
    if (!list.hasMore) return ids
    assert.equal(list.threads.length, limit)
    before = list.threads.at(-1)?.activity ?? null
  }
}

export const keepRules: readonly StoreRule[] = [
  {
    id: 'FK2',
    claim:
      'lists the archive apart from the rest, and the pinned ones of either, at every page size',
    async check({ open, reopen }) {
      let store = await open()
      for (const index of all) await createThread(store, numbered(index))
      await store.createThread({ id: parseThreadId('other'), ownerId: ben, title: '', at })
      for (const index of [1, 4, 6]) await flag(store, numbered(index), { archived: true })
      for (const index of [0, 5, 6]) await flag(store, numbered(index), { pinned: true })
      await flag(store, numbered(2), { pinned: true, archived: true })
      await flag(store, numbered(2), { archived: false })
      store = await reopen(store)
      // Each list in the order of activity, which no flag has changed.
      const lists = [
        [undefined, [7, 6, 5, 4, 3, 2, 1, 0]],
        [{ archived: false }, [7, 5, 3, 2, 0]],
        [{ archived: true }, [6, 4, 1]],
        [{ archived: false, pinned: true }, [5, 2, 0]],
        [{ archived: true, pinned: true }, [6]],
      ] as const
      for (const [filter, expected] of lists) {
        for (let limit = 1; limit <= all.length + 1; limit++) {
          assert.deepEqual(await listIds(store, limit, filter), expected.map(numbered))
        }
      }
      const { threads } = await store.listThreads({ ownerId: ana, limit: 9, before: null })
      assert.deepEqual(
        threads.map(({ pinned, archived }) => [pinned, archived]),
        [
          [false, false],
          [true, true],
          [true, false],
          [false, true],
          [false, false],
          [true, false],
          [false, true],
          [true, false],
        ],
      )
    },
  },
  {
    id: 'FK2',
    claim: 'takes a thread out of the archive when a message is added, and for nothing else',
    async check({ open, reopen }) {
      let store = await open()
      await createThread(store)
      const flags = async () => {
        const now = await store.readThread(thread)
        return [now?.pinned, now?.archived]
      }
      assert.deepEqual(await flags(), [false, false])
      const event = { type: 'thread-flagged', pinned: true, archived: true, at } as const
      await append(store, [event])
      const before = await store.readThread(thread)
      assert.deepEqual([before?.pinned, before?.archived, before?.updatedAt], [true, true, at])
      const { changes } = await readChanges(store, 0)
      assert.deepEqual(changes, [{ kind: 'event', seq: 1, commit: 1, event: { ...event, seq: 1 } }])
      await append(store, [started()])
      await append(store, text('Hi'))
      await append(store, [{ type: 'thread-renamed', title: 'Kept', at }])
      await append(store, [ended()])
      store = await reopen(store)
      assert.deepEqual(await flags(), [true, true])
      await append(store, [messageAdded('Hello')])
      assert.deepEqual(await flags(), [true, false])
      // In one commit the last event counts, as in two.
      const rest = [
        messageAdded('Again', parseMessageId('again')),
        { type: 'thread-flagged', archived: true, at } as const,
      ]
      await append(store, rest)
      store = await reopen(store)
      assert.deepEqual(await flags(), [true, true])
      await append(store, [{ type: 'thread-flagged', pinned: false, at }])
      assert.deepEqual(await flags(), [false, true])
      assert.equal((await store.readMessage(thread, turn))?.id, turn)
    },
  },
  {
    id: 'FK3',
    claim: 'returns who set a title: nobody, a model, or a person',
    async check({ open, reopen }) {
      let store = await open()
      const readTitle = async (id = thread) => {
        store = await reopen(store)
        const found = await store.readThread(id)
        const { threads } = await store.listThreads({ ownerId: ana, limit: 9, before: null })
        assert.equal(threads.find((one) => one.id === id)?.titledBy, found?.titledBy)
        return [found?.title, found?.titledBy]
      }
      const title = 'Hello, “you” \u00e4'
      const create = { ownerId: ana, title, isPlaceholder: true, at } as const
      await append(store, [messageAdded('Hello')], { create })
      assert.deepEqual(await readTitle(), [title, null])
      const rename = (name: string, by?: 'model'): NewThreadEvent => ({
        type: 'thread-renamed',
        title: name,
        at,
        ...(by === undefined ? {} : { by, usage: { totalTokens: 7 } }),
      })
      await append(store, [rename('A greeting', 'model')])
      assert.deepEqual(await readTitle(), ['A greeting', 'model'])
      // The same title set by a person is a person's.
      await append(store, [rename('A greeting')])
      assert.deepEqual(await readTitle(), ['A greeting', 'person'])
      await append(store, [rename('')])
      assert.deepEqual(await readTitle(), ['', null])

      const named = parseThreadId('named')
      await store.createThread({ id: named, ownerId: ana, title: 'Mine', at })
      assert.deepEqual(await readTitle(named), ['Mine', 'person'])
      const unnamed = parseThreadId('unnamed')
      const placed = { id: unnamed, ownerId: ana, title: 'Words', isPlaceholder: true, at } as const
      const made = await store.createThread(placed)
      assert.equal(made.kind === 'created' && made.thread.titledBy, null)
      assert.deepEqual(await readTitle(unnamed), ['Words', null])
    },
  },
]
