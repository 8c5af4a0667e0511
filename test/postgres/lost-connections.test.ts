import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import type { Append, PlannedCommit } from '../../src/store/plan-commit.ts'
import type { ChangeNotification, Store } from '../../src/store/store.ts'
import { commitTogether, planAll } from '../../src/testing/store-rules/append-events.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
  createThread,
  ended,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  turn,
  turnWithCalls,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import { openTcpLine } from '../support/tcp-line.ts'
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

/** Lets a commit run into what another transaction does, ends its connection there, and gives what it is told. */
async function killInCommit(
  database: TestDatabase,
  store: Store,
  obstacle: string,
  appends: readonly Append[],
): Promise<readonly string[]> {
  const [holder, killer] = [await database.connect(), await database.connect()]
  await holder.query('BEGIN')
  await holder.query(obstacle)
  const commit = commitTogether(store, appends)
  const [backend] = await waitFor<{ pid: number }>(killer, blocked)
  await killer.query('SELECT pg_terminate_backend($1)', [backend?.pid])
  const told = await commit
  await holder.query('ROLLBACK')
  return told.map(({ kind }) => kind)
}

/**
 * Rows that a commit meets after it has moved its thread on: a number that somebody else is about to
 * take, and a turn's row that somebody else has locked.
 */
const insertAtSeq = (seq: number) => `INSERT INTO holdfast.events
  (thread_id, seq, size, commit_seq, message_id, at, payload)
  VALUES ('thread', ${seq}, 1, ${seq}, 'turn', 1, '{}')`
const lockTurn = `SELECT FROM holdfast.messages WHERE message_id = 'turn' FOR UPDATE`

describe('a connection that is lost in mid-commit', () => {
  it.each([
    ['the events of a running turn', ['busy'], [{ threadId: thread, events: text('More') }]],
    [
      'a group of threads',
      ['appended', 'busy', 'appended'],
      [
        { threadId: parseThreadId('other'), events: [messageAdded('Hi')] },
        { threadId: thread, events: text('More') },
        {
          threadId: parseThreadId('new'),
          events: [messageAdded('Hi')],
          create: { ownerId: ana, title: '', at },
        },
      ],
    ],
  ])('[LG3] leaves nothing half-written of %s, and says so', async (_, kinds, appends) => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await createThread(store, parseThreadId('other'))
    await append(store, [started(), ...text('Hi')])
    const client = await database.connect()
    const ours = (rows: readonly unknown[]) =>
      rows.filter((row) => JSON.stringify(row).includes('(thread,'))
    const before = ours(await readTables(client))
    expect(await killInCommit(database, store, insertAtSeq(7), appends)).toEqual(kinds)
    expect(ours(await readTables(client))).toEqual(before)
    const held = appends.filter((_each, index) => kinds[index] === 'busy')
    expect(await commitTogether(store, held)).toMatchObject(held.map(() => ({ kind: 'appended' })))
    for (const { threadId, events } of appends) {
      const before = threadId === thread ? 4 : 0
      expect((await store.readThread(threadId))?.seq).toBe(before + events.length)
    }
  })

  it('[LG3] leaves each of several appends of a thread stored whole, or not at all', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    await append(store, [started(), ...text('Hi')])
    const turns = [(await store.findTurn(turn))!.turn]
    const next = messageAdded('Next', parseMessageId('next'))
    // The second changes the turn's row, the first does not.
    const appends = [
      { threadId: thread, events: [next], expectedSeq: 4 },
      { threadId: thread, events: [ended()], expectedSeq: 5, turns },
    ]
    expect(await killInCommit(database, store, lockTurn, appends)).toEqual(['appended', 'busy'])
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
      events: [succeeded('found'), ended(), messageAdded('Next', parseMessageId('next'))],
      lease: { kind: 'release', fence },
    }
    expect(await killInCommit(database, store, lockTurn, [ending])).toEqual(['busy'])
    expect(await readTables(client)).toEqual(before)
    expect(await commitTogether(store, [ending])).toMatchObject([{ kind: 'appended', seq: 8 }])
  })

  it('[LG2] lets everyone read again, here and elsewhere, while it is not known what was stored', async () => {
    const database = await openTestDatabase()
    const line = await openTcpLine(database.url)
    const quick = { statementTimeoutMs: 300, connectTimeoutMs: 300 }
    const store = postgres(line.url, quick)
    onTestFinished(() => store.close())
    await createThread(store)
    const { notifications, until } = watchStore(store)
    const isEverything = (notification: ChangeNotification) => notification.threadId === null
    await until(isEverything)
    const before = notifications.length
    const [planned] = await planAll(store, [{ threadId: thread, events: [started()] }])
    line.stall('all')
    await expect(store.commit([planned as PlannedCommit])).rejects.toMatchObject({
      code: 'store-unreachable',
      message: expect.stringContaining('may or may not have been stored') as string,
      isInDoubt: true,
    })
    await until((notification) => isEverything(notification) && notifications.length > before)
  })

  it('[LG3 LG3a] is replaced: reads and commits go on, and nobody gets an error', async () => {
    const database = await openTestDatabase()
    const errors: unknown[] = []
    const store = database.open({ onError: (error) => errors.push(error) })
    await createThread(store)
    const client = await database.connect()
    for (let round = 0; round < 3; round++) {
      const message = messageAdded('Hi', parseMessageId(`message-${round}`))
      await append(store, [message])
      const { rows } = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
        WHERE application_name = 'holdfast' AND datname = current_database()`)
      const pids = rows.map(({ pid }) => pid)
      await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) pid', [pids])
      await waitFor(
        client,
        `SELECT FROM pg_stat_activity WHERE pid IN (${pids.join(', ')})`,
        (left) => left.length === 0,
      )
      expect(await store.readThread(thread)).toMatchObject({ seq: round + 1 })
    }
    expect((await readChanges(store, 0)).seq).toBe(3)
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
        events: [messageAdded('Hi', parseMessageId('ok')), messageAdded('Hi', '\u0000')],
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
