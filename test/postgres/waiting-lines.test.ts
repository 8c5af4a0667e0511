import { createHoldfast, parseOwnerId, parseThreadId } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { createThread } from '../../src/testing/store-rules/thread-script.ts'
import { blocked, openTestDatabase, waitFor } from './test-database.ts'

const ownerId = parseOwnerId('local')
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Threads that are written whole, each of which has a connection until it is let go. */
function writeThreads(store: Store, count: number) {
  const begun: number[] = []
  const gates = numbers(count).map(() => ({
    begun: Promise.withResolvers<void>(),
    end: Promise.withResolvers<void>(),
  }))
  // A test that fails leaves none behind, which the end of the database would wait for.
  onTestFinished(() => {
    for (const { end } of gates) end.resolve()
  })
  const written = gates.map(async (gate, index) => {
    async function* portions() {
      begun.push(index)
      gate.begun.resolve()
      await gate.end.promise
      yield* []
    }
    const create = { ownerId, title: '', at: 1 }
    return store.createWhole?.({
      threadId: parseThreadId(`whole-${index}`),
      create,
      portions: portions(),
    })
  })
  return {
    begun,
    written: Promise.all(written),
    untilBegun: (index: number) => gates[index]?.begun.promise,
    end: (index: number) => gates[index]?.end.resolve(),
  }
}

it('[LG3a] who waits for a connection for too long is refused with 503, and is given none that comes free later', async () => {
  const database = await openTestDatabase()
  // One connection, beside that of commits.
  const store = database.open({ poolSize: 2, connectTimeoutMs: 1_000 })
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, { localOnly: true, log: () => {} })
  const listThreads = () =>
    handler(new Request('http://localhost/api/threads', { headers: { host: 'localhost' } }))
  expect((await listThreads()).status).toBe(200)
  const { written, untilBegun, end } = writeThreads(store, 1)
  await untilBegun(0)
  const refused = await listThreads()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({ error: { code: 'store-unreachable' } })
  const waiting = listThreads()
  end(0)
  expect(await written).toEqual(['created'])
  expect((await waiting).status).toBe(200)
  expect((await listThreads()).status).toBe(200)
}, 30_000)

it('[OP7b] of threads that are written whole two have a connection, and the next one waits for its end', async () => {
  const database = await openTestDatabase()
  const store = database.open({ poolSize: 4 })
  await createThread(store)
  const { begun, written, untilBegun, end } = writeThreads(store, 4)
  await Promise.all([untilBegun(0), untilBegun(1)])
  // Any of the others that did not wait would have the third connection.
  expect(await store.listThreads({ ownerId, before: null, limit: 10 })).toBeDefined()
  expect(begun).toEqual([0, 1])
  end(1)
  await untilBegun(2)
  expect(begun).toEqual([0, 1, 2])
  for (const index of [0, 2, 3]) end(index)
  expect(await written).toEqual(numbers(4).map(() => 'created'))
}, 30_000)

it('[OP7] one of three connections waits in the line for a row, time after time, and the others are free', async () => {
  const database = await openTestDatabase()
  const store = database.open({ poolSize: 3, statementTimeoutMs: 60_000 })
  const threadId = parseThreadId('held')
  await createThread(store, threadId)
  const [admin, watcher] = [await database.connect(), await database.connect()]
  // Whoever comes again after a pause waits for a moment only.
  const long = `${blocked} AND clock_timestamp() - query_start > interval '300 milliseconds'`
  for (const round of ['first', 'second']) {
    await admin.query('BEGIN')
    await admin.query(`UPDATE holdfast.threads SET seq = seq WHERE id = '${threadId}'`)
    const set = () => store.setThreadMetadata({ threadId, from: {}, to: {} })
    const all = Promise.all(numbers(6).map(set))
    expect([round, await waitFor(watcher, long)]).toMatchObject([round, [{}]])
    expect(await store.readThread(threadId)).toMatchObject({ id: threadId })
    await admin.query('COMMIT')
    expect(await all).toEqual(numbers(6).map(() => 'set'))
  }
})
