import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import { sqlite } from '../store/sqlite/index.ts'
import type { Store } from '../store/store.ts'
import { importThreads } from './import-threads.ts'
import { openScratch } from './open-scratch.ts'
import { readImport } from './read-import.ts'

const ownerId = parseOwnerId('me')
const stores = { memory, sqlite: () => sqlite(':memory:') } as const

async function* threads(count: number, extra = ''): AsyncGenerator<string> {
  const list = Array.from(
    { length: count },
    (_, n) =>
      `{"id":"t${n}","title":"T"${extra},"messages":[{"id":"m${n}","role":"user","content":"x"},{"id":"a${n}","role":"assistant","content":"y"}]}`,
  )
  yield `{"threads":[${list.join(',')}]}`
}

/** A store that counts its transactions. After `most` of them it fails, as if its process had died. */
function counted(store: Store, most = Number.POSITIVE_INFINITY) {
  const count = { commits: 0, created: 0 }
  const counting: Store = {
    ...store,
    async commit(commits) {
      if (++count.commits > most) throw new Error('The process has died.')
      return store.commit(commits)
    },
    async createThread(thread) {
      count.created++
      return store.createThread(thread)
    },
  }
  return { store: counting, count }
}

/** A transaction has at most 400 events: 50 of these threads, of eight events each, or 45 with their flags. */
const load = (store: Store, source: AsyncGenerator<string>, isDry = false) =>
  isDry
    ? openScratch().then((scratch) =>
        importThreads(store, readImport(source), { ownerId, dryRun: { scratch } }),
      )
    : importThreads(store, readImport(source), { ownerId })

const idsIn = async (store: Store, id: string): Promise<readonly string[] | null> => {
  const query = { threadId: parseThreadId(id), limit: 10, before: null } as const
  const page = await store.readPage({ ...query, live: 'include', results: 'none' })
  return page === null ? null : page.messages.map((message) => message.id).toReversed()
}

it.each(['memory', 'sqlite'] as const)(
  '[OP7b LE5] 1,000 small threads share transactions, in a dry run and a second time too (%s)',
  async (name) => {
    const { store, count } = counted(stores[name]())
    const dry = await load(store, threads(1_000), true)
    expect(count).toEqual({ commits: 0, created: 0 })
    const report = await load(store, threads(1_000))
    expect(report).toMatchObject({ threads: 1_000, messages: 2_000, skipped: 0, failed: [] })
    expect(dry).toEqual({ dryRun: true, ...report })
    expect(count).toEqual({ commits: 20, created: 0 })
    const again = await load(store, threads(1_000))
    expect(again).toEqual({ ...report, skipped: 2_000 })
    expect(count).toEqual({ commits: 20, created: 0 })
    expect(await idsIn(store, 't999')).toEqual(['m999', 'a999'])
    await store.close()
  },
)

it('[OP7b] flags and threads without messages share them too', async () => {
  const { store, count } = counted(memory())
  await load(store, threads(500, ',"pinned":true'))
  const empty = Array.from({ length: 500 }, (_, n) => `{"id":"e${n}"}`)
  await load(
    store,
    (async function* () {
      yield `{"threads":[${empty.join(',')}]}`
    })(),
  )
  expect(count).toEqual({ commits: 17, created: 0 })
  const thread = await store.readThread(parseThreadId('t499'))
  expect(thread).toMatchObject({ title: 'T', pinned: true })
  expect(await idsIn(store, 'e499')).toEqual([])
})

it('[OP7b LE5] an import that dies leaves each small thread whole or not at all, and a second one brings the rest', async () => {
  const inner = memory()
  const { store } = counted(inner, 2)
  await expect(load(store, threads(300, ',"pinned":true'))).rejects.toThrow('died')
  const found = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const ids = await idsIn(inner, `t${n}`)
      const thread = await inner.readThread(parseThreadId(`t${n}`))
      return ids === null ? null : [...ids, thread?.pinned]
    }),
  )
  expect(found).toEqual(
    Array.from({ length: 300 }, (_, n) => (n < 90 ? [`m${n}`, `a${n}`, true] : null)),
  )
  const report = await load(inner, threads(300, ',"pinned":true'))
  expect(report).toMatchObject({ threads: 300, messages: 600, skipped: 180, failed: [] })
  expect(await idsIn(inner, 't299')).toEqual(['m299', 'a299'])
})

it('[OP7b] one bad thread of a transaction costs only itself', async () => {
  const inner = memory()
  const { store } = counted(inner)
  // Somebody creates one of them in the middle of the import.
  const racing: Store = {
    ...store,
    async commit(commits) {
      const id = parseThreadId('t7')
      await inner.createThread({ id, ownerId: parseOwnerId('other'), title: '', at: 1 })
      return store.commit(commits)
    },
  }
  const report = await load(racing, threads(50))
  const why = 'The thread was created by somebody else during the import. Import it again.'
  expect(report.failed).toEqual([
    { where: 'threads[7], m7', why },
    { where: 'threads[7], a7', why },
  ])
  expect(await idsIn(inner, 't49')).toEqual(['m49', 'a49'])
})

it('[LE5 OP7] a thread without any id has the one that it always had, however long it is', async () => {
  const store = memory()
  await load(
    store,
    (async function* () {
      yield '{"messages":[{"role":"user","content":"ü \\"quoted\\""},{"role":"assistant","content":"b"}]}'
    })(),
  )
  const { threads: found } = await store.listThreads({ ownerId, limit: 2, before: null })
  expect(found.map(({ id }) => id)).toEqual(['thr_3d7201439a8cbc72'])
})
