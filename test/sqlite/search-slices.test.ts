import { expect, it, onTestFinished, vi } from 'vitest'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import type { SearchHit, SearchIndex, SearchPlace } from '../../src/store/search.ts'
import { type SqliteConnection, createConnection } from '../../src/store/sqlite/connection.ts'
import { hideThread, removeHidden } from '../../src/store/sqlite/hidden-threads.ts'
import { createSqliteSearch } from '../../src/store/sqlite/search-index.ts'
import type { Store } from '../../src/store/store.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const ownerId = parseOwnerId('ann')

/** The index on a connection of its own, and what it does in each transaction or step between two pauses. */
function openIndex(file: string) {
  const connection = createConnection(file, 1_500)
  onTestFinished(() => connection.close())
  const { deletes, reads, matches } = connection.read(({ search }) => ({
    deletes: vi.spyOn(search.deleteWord, 'run'),
    reads: vi.spyOn(search.readText, 'get'),
    matches: vi.spyOn(search.findMatches, 'all'),
  }))
  const deletedAtOnce: number[] = []
  const readAtOnce: number[] = []
  const count = <Result>(work: () => Result): Result => {
    const [deleted, read] = [deletes.mock.calls.length, reads.mock.calls.length]
    const result = work()
    deletedAtOnce.push(deletes.mock.calls.length - deleted)
    readAtOnce.push(reads.mock.calls.length - read)
    return result
  }
  const index = createSqliteSearch({
    read: async (work) => connection.read(work),
    write: async (work) => count(() => connection.write(work)),
    writeInSteps: async (work) =>
      connection.write((statements) => {
        const steps = work(statements)
        for (;;) {
          const { done, value } = count(() => steps.next())
          if (done === true) return value
        }
      }),
  })
  return { connection, index, deletedAtOnce, readAtOnce, matches }
}

async function addText(
  store: Store,
  index: SearchIndex,
  words: readonly string[],
  id = 'thread-1',
  at = 1,
): Promise<void> {
  const threadId = parseThreadId(id)
  await store.createThread({ id: threadId, ownerId, title: '', at })
  const [unread] = await index.findUnread(ownerId, 1)
  const { incarnation = '', from = -1 } = unread ?? {}
  await index.addTexts({ threadId, incarnation, from, to: 0, texts: [{ seq: 0, at, words }] })
}

const manyWords = Array.from({ length: 20_000 }, (_, nth) => `word${nth}`)

function countRows(file: string): Readonly<Record<string, unknown>> {
  const db = openRaw(file)
  return Object.fromEntries(
    Object.keys(nothing).map((table) => [
      table,
      db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'],
    ]),
  )
}

const nothing = {
  threads: 0,
  search_threads: 0,
  search_owners: 0,
  search_texts: 0,
  search_words: 0,
}

it('[FK1 OP7] as many texts are searched at once as have a million bytes, and the hits and pages are those of all', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const { index, matches } = openIndex(file)
  const sizes = Array.from({ length: 40 }, (_, nth) =>
    nth % 4 === 0 ? 300_000 : nth === 13 ? 800_000 : 100,
  )
  for (const [nth, bytes] of sizes.entries()) {
    const words = Array.from({ length: bytes / 100 }, (_, word) => `${word}`.padStart(99, 'x'))
    const last = nth % 3 === 0 ? ['rhubarb'] : ['quince']
    await addText(store, index, [...words, 'tart', ...last], `thread-${nth}`, nth)
  }
  const find = async (prefix: string, limit: number) => {
    const found: SearchHit[] = []
    for (let before: SearchPlace | null = null; ;) {
      const terms = { words: ['tart'], prefix }
      const hits = await index.find({ ownerId, terms, limit, before })
      found.push(...hits)
      before = hits.at(-1)?.place ?? null
      if (hits.length < limit) return found.map(({ place }) => place[0])
    }
  }
  const newest = sizes.map((_, nth) => nth).toReversed()
  matches.mockClear()
  expect(await find('tar', 50)).toEqual(newest)
  const compared = matches.mock.calls.map(([values]) => {
    const { texts } = values as unknown as { readonly texts: string }
    return (JSON.parse(texts) as readonly number[]).map((id) => sizes[id - 1] ?? 0)
  })
  for (const portion of compared) {
    expect(portion.reduce<number>((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(1_000_000)
  }
  expect(compared.length).toBeLessThan(10)
  expect(await find('tar', 3)).toEqual(newest)
  expect(await find('rhub', 4)).toEqual(newest.filter((nth) => nth % 3 === 0))
})

it('[FK1 OP7] the words of a search are looked up by their keys, however long the texts are', () => {
  const file = temporaryFile()
  openStore(file)
  const { connection } = openIndex(file)
  const sql = connection.read(({ search }) => search.findMatches.sourceSQL)
  const plan = openRaw(file).prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
  expect(plan.map(({ detail }) => detail)).toContain(
    'SEARCH h USING PRIMARY KEY (owner=? AND word=? AND text=?)',
  )
})

it('[FK1 OP7] a text of many words is replaced by a short one in many steps', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const { index, deletedAtOnce } = openIndex(file)
  await addText(store, index, manyWords)
  const raw = openRaw(file)
  const incarnation = String(raw.prepare('SELECT incarnation FROM threads').get()?.['incarnation'])
  const texts = [{ seq: 0, at: 1, words: ['few'] }]
  const threadId = parseThreadId('thread-1')
  await index.addTexts({ threadId, incarnation, from: 0, to: 0, texts })
  expect(deletedAtOnce.reduce((sum, words) => sum + words)).toBe(manyWords.length)
  expect(Math.max(...deletedAtOnce)).toBeLessThanOrEqual(100)
  expect(raw.prepare('SELECT word FROM search_words').all()).toEqual([{ word: 'few' }])
})

it('[FK1 OP7] long texts that are as they were are compared one at a time', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const { index, readAtOnce } = openIndex(file)
  const threadId = parseThreadId('thread-1')
  await store.createThread({ id: threadId, ownerId, title: '', at: 1 })
  const [unread] = await index.findUnread(ownerId, 1)
  const { incarnation = '' } = unread ?? {}
  const words = manyWords.slice(0, 1_000)
  const texts = Array.from({ length: 5 }, (_, seq) => ({ seq, at: 1, words }))
  for (const from of [-1, 0]) await index.addTexts({ threadId, incarnation, from, to: 0, texts })
  expect(readAtOnce.reduce((sum, read) => sum + read)).toBe(10)
  expect(Math.max(...readAtOnce)).toBe(1)
})

it('[FK1 OP7] the words of a long text are sorted in portions', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const { index } = openIndex(file)
  const sorts = [vi.spyOn(Array.prototype, 'sort'), vi.spyOn(Array.prototype, 'toSorted')]
  const restore = () => {
    for (const sort of sorts) sort.mockRestore()
  }
  onTestFinished(restore)
  await addText(store, index, manyWords)
  const sorted = sorts.flatMap(({ mock }) =>
    mock.contexts.map((list) => (list as readonly unknown[]).length),
  )
  restore()
  expect(Math.max(...sorted)).toBeGreaterThan(100)
  expect(Math.max(...sorted)).toBeLessThanOrEqual(1_024)
})

it('[FK1 OP7] what is left of an earlier thread is deleted in many transactions before a thread with its number is indexed', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const { index, deletedAtOnce } = openIndex(file)
  await addText(store, index, manyWords)
  const raw = openRaw(file)
  raw.exec(`UPDATE search_threads SET incarnation = 'earlier'; UPDATE search_texts SET seq = 7`)
  await addText(store, index, ['few'])
  expect(deletedAtOnce.reduce((sum, words) => sum + words)).toBe(manyWords.length)
  expect(Math.max(...deletedAtOnce)).toBeLessThanOrEqual(250)
  expect(raw.prepare('SELECT word FROM search_words').all()).toEqual([{ word: 'few' }])
  expect(raw.prepare('SELECT seq, words FROM search_texts').all()).toEqual([
    { seq: 0, words: ' few ' },
  ])
  expect(await index.findUnread(ownerId, 1)).toEqual([])
})

const lost = new Error('lost')

/** Removes what is hidden, and counts the slices. Each look at the clock is a millisecond after the one before. */
async function removeAll(
  connection: SqliteConnection,
  onSlice: (slices: number, writeAndLose: () => void) => void = () => undefined,
): Promise<number> {
  let slices = 0
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now)
  try {
    await removeHidden({
      read: async (work) => connection.read(work),
      write: async (work) => {
        onSlice(++slices, () => {
          connection.write((statements) => {
            work(statements)
            throw lost
          })
        })
        return connection.write(work)
      },
    })
    return slices
  } finally {
    clock.mockRestore()
  }
}

/** A thread that is deleted, and of which all rows are left. */
async function hideIndexed(file: string): Promise<SqliteConnection> {
  const { index, connection } = openIndex(file)
  await addText(openStore(file), index, manyWords)
  connection.write((statements) => {
    const thread = statements.readKey.get(parseThreadId('thread-1'))?.thread ?? 0
    hideThread(statements, thread, 1_000)
  })
  return connection
}

it('[FK1 OP7 OP5c] a thread whose one text has many words is deleted in many slices', async () => {
  const file = temporaryFile()
  const connection = await hideIndexed(file)
  expect(await removeAll(connection)).toBeGreaterThan(10)
  expect(countRows(file)).toEqual(nothing)
})

it('[FK1 OP7 OP5c] a process that dies between the words of a text leaves the rest of them to the next', async () => {
  const file = temporaryFile()
  const connection = await hideIndexed(file)
  const dying = removeAll(connection, (slices) => {
    if (slices === 5) throw new Error('died')
  })
  await expect(dying).rejects.toThrow('died')
  const left = countRows(file)['search_words']
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(manyWords.length)
  await removeAll(openIndex(file).connection)
  expect(countRows(file)).toEqual(nothing)
})

it('[FK1 OP5c] a slice that is rolled back and repeated deletes the same words again', async () => {
  const file = temporaryFile()
  const connection = await hideIndexed(file)
  const slices = await removeAll(connection, (_, writeAndLose) => {
    expect(writeAndLose).toThrow(lost)
  })
  expect(countRows(file)).toEqual(nothing)
  expect(slices).toBeGreaterThan(10)
})
