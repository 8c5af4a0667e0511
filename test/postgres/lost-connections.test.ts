import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import type { Append, Hint, Store } from '../../src/store/store.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  ended,
  say,
  started,
  text,
  thread,
  turn,
  turnWithCalls,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import { blocked, openTestDatabase, type TestDatabase, waitFor } from './test-database.ts'

/** Everything that is stored, to the byte. */
async function readTables(client: pg.Client): Promise<readonly unknown[]> {
  const { rows } = await client.query<Record<string, string>>(
    ['threads', 'messages', 'events', 'calls']
      .map((table) => `SELECT '${table}' AS name, t::text AS row FROM holdfast.${table} t`)
      .join(' UNION ALL ')
      .concat(' ORDER BY 1, 2'),
  )
  return rows
}

/** Lets a commit run into a lock, ends its connection there, and gives what the caller is told. */
async function killInCommit(
  database: TestDatabase,
  store: Store,
  lock: string,
  appends: readonly Append[],
): Promise<unknown> {
  const [holder, killer] = [await database.connect(), await database.connect()]
  await holder.query('BEGIN')
  await holder.query(lock)
  const commit = store.commit(appends).then(
    (results) => results,
    (error: unknown) => error,
  )
  const [backend] = await waitFor<{ pid: number }>(killer, blocked)
  await killer.query('SELECT pg_terminate_backend($1)', [backend?.pid])
  const told = await commit
  await holder.query('ROLLBACK')
  return told
}

const lost = {
  name: 'HoldfastError',
  code: 'store-unreachable',
  message: expect.stringContaining('may or may not have been stored') as string,
}

describe('a connection that is lost in mid-commit', () => {
  it.each([
    ['the facts of a running turn', [{ threadId: thread, events: text('More') }]],
    [
      'a group of threads',
      [
        { threadId: thread, events: text('More') },
        { threadId: parseThreadId('other'), events: [say('Hi')] },
      ],
    ],
    [
      'several appends of a thread',
      [
        { threadId: thread, events: text('More') },
        { threadId: thread, events: [ended()] },
      ],
    ],
  ])('[LG3] leaves nothing half-written of %s, and says so', async (_, appends) => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await createThread(store, parseThreadId('other'))
    await append(store, [started(), ...text('Hi')])
    const client = await database.connect()
    const before = await readTables(client)
    const lock = `SELECT FROM holdfast.threads WHERE id = 'thread' FOR UPDATE`
    expect(await killInCommit(database, store, lock, appends)).toMatchObject(lost)
    expect(await readTables(client)).toEqual(before)
    const results = await store.commit(appends)
    expect(results.map(({ kind }) => kind)).toEqual(appends.map(() => 'appended'))
  })

  it('[LG3] takes back what the same transaction had already written', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId: turn } as const
    const { fence = -1 } = await append(store, [started(), ...text('Hi'), ended()], { lease })
    const client = await database.connect()
    const before = await readTables(client)
    // The seal comes after the release of the lease, in the same transaction.
    const lock = `SELECT FROM holdfast.messages WHERE message_id = 'turn' FOR UPDATE`
    const sealing: Append = {
      threadId: thread,
      events: [say('Next', parseMessageId('next'))],
      lease: { kind: 'release', fence },
      seal: [turn],
    }
    expect(await killInCommit(database, store, lock, [sealing])).toMatchObject(lost)
    expect(await readTables(client)).toEqual(before)
    expect(await store.commit([sealing])).toMatchObject([{ kind: 'appended', seq: 6 }])
  })

  it('[LG2] lets everyone read again, here and elsewhere: it may have been stored', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    await createThread(stores[0]!)
    const watchers = stores.map(watchStore)
    const isEverything = (hint: Hint) => hint.threadId === null
    for (const { until } of watchers) await until(isEverything)
    const before = watchers.map(({ hints }) => hints.length)
    const lock = `SELECT FROM holdfast.threads FOR UPDATE`
    const appends = [{ threadId: thread, events: [say('Hi')] }]
    expect(await killInCommit(database, stores[0]!, lock, appends)).toMatchObject(lost)
    for (const [index, { hints, until }] of watchers.entries()) {
      await until((hint) => isEverything(hint) && hints.length > before[index]!)
    }
  })

  it('[LG3] is replaced: reads and commits go on', async () => {
    const database = await openTestDatabase()
    const errors: unknown[] = []
    const store = database.open({ onError: (error) => errors.push(error) })
    await createThread(store)
    const client = await database.connect()
    for (let round = 0; round < 3; round++) {
      await append(store, [say('Hi', parseMessageId(`message-${round}`))])
      const { rows } = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
        WHERE application_name = 'holdfast' AND datname = current_database()`)
      const pids = rows.map(({ pid }) => pid)
      await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) pid', [pids])
      await waitFor(
        client,
        `SELECT FROM pg_stat_activity WHERE pid IN (${pids.join(', ')})`,
        (left) => left.length === 0,
      )
      // The driver hears of it a moment later; whoever comes first is told.
      await store.readThread(thread).catch((error: unknown) => errors.push(error))
    }
    expect((await readChanges(store, 0)).seq).toBe(3)
    expect(errors.length).toBeGreaterThan(0)
    for (const error of errors) expect(error).toMatchObject({ code: 'store-unreachable' })
  })
})

describe('one append that the database will not take', () => {
  it('[LG3] fails alone; the others of its group are stored', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    const ids = ['a', 'b', 'c', 'd'].map(parseThreadId)
    for (const id of ids) await createThread(store, id)
    const client = await database.connect()
    // What only a damaged database can do: the thread's number line goes back.
    await append(store, [started(), ...text('Hi')], { threadId: ids[1]! })
    await client.query(`UPDATE holdfast.threads SET seq = 1 WHERE id = 'b'`)
    const results = await store.commit([
      { threadId: ids[0]!, events: turnWithCalls(2, turn) },
      { threadId: ids[1]!, events: text('More') },
      {
        threadId: ids[2]!,
        events: [started(), { ...started(), type: 'turn-ended', ending: { kind: 'completed' } }],
      },
      // Not a legal id: PostgreSQL has no such character.
      {
        threadId: ids[3]!,
        events: [say('Hi', parseMessageId('ok')), say('Hi', '\u0000' as typeof turn)],
      },
    ])
    expect(results).toEqual([
      { kind: 'appended', firstSeq: 1, seq: 10, stopRequested: false },
      { kind: 'illegal', subject: 'message', id: 'b', state: 'unstorable' },
      { kind: 'appended', firstSeq: 1, seq: 2, stopRequested: false },
      { kind: 'illegal', subject: 'message', id: 'd', state: 'unstorable' },
    ])
    expect((await readPage(store, { threadId: ids[3]! })).messages).toEqual([])
    expect((await readPage(store, { threadId: ids[0]! })).messages).toHaveLength(1)
  })
})
