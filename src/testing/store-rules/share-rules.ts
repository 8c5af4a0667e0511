import assert from 'node:assert/strict'
import { parseCallId, parseThreadId } from '../../core/ids.ts'
import type { ShareId } from '../../core/share.ts'
import type { ShareRecords, SharedText } from '../../store/share-records.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import { ana, append, at, createThread, messageAdded, thread } from './thread-script.ts'

const idOf = (letter: string): ShareId => `shr_${letter.repeat(32)}`
const begin = { threadId: thread, at, most: 3, unfinishedBefore: at - 1_000 }
const file = `file_${'a'.repeat(32)}`

/** Skips a store that keeps no links. */
async function withShares(
  open: () => Promise<Store>,
  check: (shares: ShareRecords, store: Store) => Promise<void>,
): Promise<void> {
  const store = await open()
  if (store.shares !== undefined) await check(store.shares, store)
}

const textsOf = (count: number, body = (nth: number) => `"${nth} 😀"`): readonly SharedText[] =>
  Array.from({ length: count }, (_, index) => ({ nth: index + 1, body: body(index + 1) }))

async function share(
  shares: ShareRecords,
  id: ShareId,
  texts: readonly SharedText[] = textsOf(3),
  createdAt = at,
): Promise<void> {
  assert.equal(await shares.begin({ ...begin, id, at: createdAt }), 'begun')
  await shares.add(id, texts)
  assert.equal(await shares.finish({ id, seq: 7, title: 'A', files: [file], calls: [] }), true)
}

const page = (id: ShareId, more: object = {}) => ({
  ...{ id, before: null, limit: 10, maxBytes: 1_000_000 },
  ...more,
})

export const shareRules: readonly StoreRule[] = [
  {
    id: 'FK5',
    claim: 'returns a link once it is finished, and never before',
    check: ({ open }) =>
      withShares(open, async (shares, store) => {
        await createThread(store)
        await append(store, [messageAdded('hello')])
        const id = idOf('a')
        assert.equal(await shares.begin({ ...begin, id }), 'begun')
        await shares.add(id, textsOf(1))
        assert.equal(await shares.read(id), null)
        assert.deepEqual(await shares.list(thread), [])
        const calls = [parseCallId('call-1')]
        const title = 'Größe 😀'
        assert.equal(await shares.finish({ id, seq: 1, title, files: [file], calls }), true)
        const known = { id, threadId: thread, seq: 1, createdAt: at }
        assert.deepEqual(await shares.read(id), {
          ...known,
          ...{ ownerId: ana, title, files: [file], calls },
        })
        assert.deepEqual(await shares.list(thread), [known])
        // Messages that are added after it is finished are not in it.
        await shares.add(id, [{ nth: 2, body: '"later"' }])
        const texts = textsOf(1)
        assert.deepEqual(await shares.readTexts(page(id)), { texts, hasMore: false })
      }),
  },
  {
    id: 'FK5',
    claim: 'reads a link in pages, newest first, bounded in number and in bytes',
    check: ({ open }) =>
      withShares(open, async (shares, store) => {
        await createThread(store)
        const texts = textsOf(7, (nth) => JSON.stringify(`${nth}`.repeat(100)))
        await share(shares, idOf('a'), texts)
        await share(shares, idOf('b'), textsOf(2))
        const newest = texts.toReversed()
        // A place may come from a cursor that a person made up.
        for (const before of [null, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
          assert.deepEqual(await shares.readTexts(page(idOf('a'), { limit: 7, before })), {
            ...{ texts: newest, hasMore: false },
          })
        }
        for (const limit of [1, 2, 3, 6, 200]) {
          const found: SharedText[] = []
          for (let before: number | null = null; ;) {
            const read = await shares.readTexts(page(idOf('a'), { limit, before }))
            found.push(...read.texts)
            if (!read.hasMore) break
            assert.equal(read.texts.length, limit)
            before = read.texts.at(-1)?.nth ?? null
          }
          assert.deepEqual(found, newest)
        }
        const bounded = await shares.readTexts(page(idOf('a'), { maxBytes: 150 }))
        assert.deepEqual(bounded, { texts: newest.slice(0, 2), hasMore: true })
        const one = await shares.readTexts(page(idOf('a'), { maxBytes: 1 }))
        assert.deepEqual(one, { texts: newest.slice(0, 1), hasMore: true })
      }),
  },
  {
    id: 'FK5',
    claim: 'deletes a link that is revoked, or whose thread is deleted, with its copy',
    check: ({ open }) =>
      withShares(open, async (shares, store) => {
        await createThread(store)
        const [first, second, half] = [idOf('a'), idOf('b'), idOf('c')]
        await share(shares, first)
        await share(shares, second, textsOf(3), at + 1)
        assert.deepEqual(
          (await shares.list(thread)).map(({ id }) => id),
          [second, first],
        )
        assert.equal(await shares.remove(parseThreadId('other'), first), false)
        assert.equal(await shares.remove(thread, first), true)
        assert.equal(await shares.remove(thread, first), false)
        assert.equal(await shares.read(first), null)
        const none = { texts: [], hasMore: false }
        assert.deepEqual(await shares.readTexts(page(first)), none)
        assert.equal(await shares.begin({ ...begin, id: half }), 'begun')
        await store.deleteThread(thread)
        // A new thread with the same id has none of the links.
        await createThread(store)
        assert.equal(await shares.read(second), null)
        assert.deepEqual(await shares.readTexts(page(second)), none)
        assert.deepEqual(await shares.list(thread), [])
        const late = { id: half, seq: 1, title: '', files: [], calls: [] }
        assert.equal(await shares.finish(late), false)
        assert.equal(await shares.read(half), null)
        assert.equal(
          await shares.begin({ ...begin, id: idOf('d'), threadId: parseThreadId('none') }),
          'no-thread',
        )
      }),
  },
  {
    id: 'OP6',
    claim: 'links the thread that was read, and no other that was created under its id since',
    check: ({ open }) =>
      withShares(open, async (shares, store) => {
        await createThread(store)
        const { incarnation } = (await store.readThread(thread)) ?? {}
        if (incarnation === undefined) return
        await store.deleteThread(thread)
        await createThread(store)
        assert.equal(await shares.begin({ ...begin, incarnation, id: idOf('a') }), 'no-thread')
        await share(shares, idOf('b'))
        assert.deepEqual(await shares.list(thread, incarnation), [])
        assert.equal(await shares.remove(thread, idOf('b'), incarnation), false)
        const now = (await store.readThread(thread))?.incarnation
        assert.equal((await shares.list(thread, now)).length, 1)
        assert.equal(await shares.remove(thread, idOf('b'), now), true)
      }),
  },
  {
    id: 'FK5',
    claim: 'limits the links of a thread, and counts an unfinished one only for a while',
    check: ({ open }) =>
      withShares(open, async (shares, store) => {
        await createThread(store)
        await share(shares, idOf('a'))
        assert.equal(await shares.begin({ ...begin, id: idOf('b'), at: at - 500 }), 'begun')
        await shares.add(idOf('b'), textsOf(1))
        await share(shares, idOf('c'))
        assert.equal(await shares.begin({ ...begin, id: idOf('d') }), 'full')
        await createThread(store, parseThreadId('other'))
        const elsewhere = { ...begin, id: idOf('e'), threadId: parseThreadId('other') }
        assert.equal(await shares.begin(elsewhere), 'begun')
        const later = { ...begin, id: idOf('f'), unfinishedBefore: at }
        assert.equal(await shares.begin(later), 'begun')
        const late = { id: idOf('b'), seq: 1, title: '', files: [], calls: [] }
        assert.equal(await shares.finish(late), false)
        assert.deepEqual(await shares.readTexts(page(idOf('b'))), { texts: [], hasMore: false })
      }),
  },
]
