import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import type { ChangeNotification, Store } from '../../src/store/store.ts'
import { commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
  createThread,
  ended,
  recorded,
  say,
  started,
  succeeded,
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

/** Lets a commit run into what another transaction does, ends its connection there, and gives the error. */
async function killInCommit(
  database: TestDatabase,
  store: Store,
  obstacle: string,
  appends: readonly Append[],
): Promise<unknown> {
  const [holder, killer] = [await database.connect(), await database.connect()]
  await holder.query('BEGIN')
  await holder.query(obstacle)
  const commit = commitTogether(store, appends).then(
    (results) => results,
    (error: unknown) => error,
  )
  const [backend] = await waitFor<{ pid: number }>(killer, blocked)
  await killer.query('SELECT pg_terminate_backend($1)', [backend?.pid])
  const told = await commit
  await holder.query('ROLLBACK')
  return told
}

/**
 * Rows that a commit meets after it has moved its thread on: a number that somebody else is about to
 * take, and a turn's row that somebody else has locked.
 */
const takeSeq = (seq: number) => `INSERT INTO holdfast.events
  (thread_id, seq, size, commit_seq, message_id, at, payload)
  VALUES ('thread', ${seq}, 1, ${seq}, 'turn', 1, '{}')`
const lockTurn = `SELECT FROM holdfast.messages WHERE message_id = 'turn' FOR UPDATE`

const lost = {
  name: 'HoldfastError',
  code: 'store-unreachable',
  message: expect.stringContaining('may or may not have been stored') as string,
}

describe('a connection that is lost in mid-commit', () => {
  it.each([
    ['the events of a running turn', [{ threadId: thread, events: text('More') }]],
    [
      'a group of threads',
      [
        { threadId: parseThreadId('other'), events: [say('Hi')] },
        { threadId: thread, events: text('More') },
        {
          threadId: parseThreadId('new'),
          events: [say('Hi')],
          create: { ownerId: ana, title: '', at },
        },
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
    expect(await killInCommit(database, store, takeSeq(7), appends)).toMatchObject(lost)
    expect(await readTables(client)).toEqual(before)
    const results = await commitTogether(store, appends)
    expect(results.map(({ kind }) => kind)).toEqual(appends.map(() => 'appended'))
  })

  it('[LG3] leaves each of several appends of a thread stored whole, or not at all', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started(), ...text('Hi')])
    const turns = [(await store.findTurn(turn))!.turn]
    const next = say('Next', parseMessageId('next'))
    // The second changes the turn's row, the first does not.
    const appends = [
      { threadId: thread, events: [next], expectedSeq: 4 },
      { threadId: thread, events: [ended()], expectedSeq: 5, turns },
    ]
    expect(await killInCommit(database, store, lockTurn, appends)).toMatchObject(lost)
    const { messages, seq } = await readPage(store)
    expect(seq).toBe(5)
    expect(messages).toMatchObject([{ id: 'next' }, { id: turn, progress: { status: 'running' } }])
    expect((await append(store, [ended()])).seq).toBe(6)
  })

  it('[LG3 CR2] takes back what the same statement had already written', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId: turn } as const
    const { fence = -1 } = await append(store, [started(), ...text('Hi'), recorded()], { lease })
    const client = await database.connect()
    const before = await readTables(client)
    const ending: Append = {
      threadId: thread,
      events: [succeeded('found'), ended(), say('Next', parseMessageId('next'))],
      lease: { kind: 'release', fence },
    }
    expect(await killInCommit(database, store, lockTurn, [ending])).toMatchObject(lost)
    expect(await readTables(client)).toEqual(before)
    expect(await commitTogether(store, [ending])).toMatchObject([{ kind: 'appended', seq: 8 }])
  })

  it('[LG2] lets everyone read again, here and elsewhere: it may have been stored', async () => {
    const database = await openTestDatabase()
    const stores = [database.open(), database.open()]
    await createThread(stores[0]!)
    const watchers = stores.map(watchStore)
    const isEverything = (notification: ChangeNotification) => notification.threadId === null
    for (const { until } of watchers) await until(isEverything)
    const before = watchers.map(({ notifications }) => notifications.length)
    await append(stores[0]!, [started()])
    const appends = [{ threadId: thread, events: text('Hi') }]
    expect(await killInCommit(database, stores[0]!, takeSeq(4), appends)).toMatchObject(lost)
    for (const [index, { notifications, until }] of watchers.entries()) {
      await until(
        (notification) => isEverything(notification) && notifications.length > before[index]!,
      )
    }
  })

  it('[LG3] is replaced: reads and commits go on', async () => {
    const database = await openTestDatabase()
    const errors: unknown[] = []
    const store = database.open({ onError: (error) => errors.push(error) })
    await createThread(store)
    const client = await database.connect()
    // The driver hears of it a moment later: whoever is first on a connection that is gone is told so, and
    // has stored nothing. A store has a few connections, so after a few of these it is served again.
    const untilServed = async (work: () => Promise<unknown>): Promise<void> => {
      for (let told = 0; told <= 10; told++) {
        const isServed = await work().then(
          () => true,
          (error: unknown) => errors.push(error) === 0,
        )
        if (isServed) return
      }
      throw new Error('It is not served again.')
    }
    for (let round = 0; round < 3; round++) {
      const message = say('Hi', parseMessageId(`message-${round}`))
      await untilServed(() => append(store, [message]))
      const { rows } = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
        WHERE application_name = 'holdfast' AND datname = current_database()`)
      const pids = rows.map(({ pid }) => pid)
      await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) pid', [pids])
      await waitFor(
        client,
        `SELECT FROM pg_stat_activity WHERE pid IN (${pids.join(', ')})`,
        (left) => left.length === 0,
      )
      await untilServed(() => store.readThread(thread))
    }
    let seq = 0
    await untilServed(async () => {
      ;({ seq } = await readChanges(store, 0))
    })
    expect(seq).toBe(3)
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
    const results = await commitTogether(store, [
      { threadId: ids[0]!, events: turnWithCalls(2, turn) },
      { threadId: ids[1]!, events: text('More') },
      { threadId: ids[2]!, events: [started(), ended()] },
      // Not a legal id: PostgreSQL has no such character.
      {
        threadId: ids[3]!,
        events: [say('Hi', parseMessageId('ok')), say('Hi', '\u0000' as typeof turn)],
      },
    ])
    expect(results).toMatchObject([
      { kind: 'appended', firstSeq: 1, seq: 10, stopRequested: false },
      { kind: 'illegal', subject: 'message', state: 'exists' },
      { kind: 'appended', firstSeq: 1, seq: 2, stopRequested: false },
      { kind: 'illegal', subject: 'message', state: 'exists' },
    ])
    expect((await readPage(store, { threadId: ids[3]! })).messages).toEqual([])
    expect((await readPage(store, { threadId: ids[0]! })).messages).toHaveLength(1)
  })
})
