import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseCallId, parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import { createAuditSql, scanSettings } from '../../src/store/postgres/audit.ts'
import {
  type CommitKind,
  commitKinds,
  groupSizes,
} from '../../src/store/postgres/commit-parameters.ts'
import { commitStatement } from '../../src/store/postgres/commit-statement.ts'
import { createFileStatements } from '../../src/store/postgres/file-records.ts'
import { createLedgerStatements } from '../../src/store/postgres/ledger-statements.ts'
import { createLeaseStatements } from '../../src/store/postgres/leases.ts'
import type { Statement } from '../../src/store/postgres/statement.ts'
import {
  createShareStatements,
  deleteSharesStatement,
} from '../../src/store/postgres/share-records.ts'
import { searchStatements } from '../../src/store/postgres/search-index.ts'
import { createThreadStatements } from '../../src/store/postgres/thread-verbs.ts'
import { appendEvents, commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  ana,
  append,
  at,
  begun,
  createThread,
  ended,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
} from '../../src/testing/store-rules/thread-script.ts'
import { createTestDatabase, openTestDatabase, waitFor } from './test-database.ts'

// What only inserts, or only waits, reads no table.
const { begin: _, lockOwner: __, ...readingFiles } = createFileStatements('holdfast')

const threadStatements = createThreadStatements('holdfast')
const { listKept } = threadStatements
/** Under names of their own: others have verbs of the same name. */
const prefixed = (list: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(list).map(([name, value]) => [`share ${name}`, value]))

const toCommitStatements = (kind: CommitKind) =>
  groupSizes.map((group) => commitStatement('holdfast', kind, group))

const statements: Readonly<Record<string, unknown>> = {
  ...createLedgerStatements('holdfast'),
  ...threadStatements,
  ...createLeaseStatements('holdfast'),
  lists: Object.values(listKept),
  ...readingFiles,
  ...searchStatements('holdfast'),
  ...prefixed(createShareStatements('holdfast')),
  deleteShares: deleteSharesStatement('holdfast'),
  commits: commitKinds.flatMap(toCommitStatements),
}
const isStatement = (value: unknown): value is Statement =>
  typeof value === 'object' && value !== null && 'text' in value && 'name' in value
const queries = Object.values(statements)
  .flatMap((value) => value)
  .filter(isStatement)

// Two long threads, of 20,000 and of 200 messages, among 2,000 short ones.
const fill = `
  SET search_path = holdfast;
  INSERT INTO threads (id, owner_id, title, created_at, updated_at, seq, lease_holder, lease_turn,
      lease_until)
    SELECT 'thread-' || n, 'owner-' || n % 50, '', 1, 1, 100000,
      CASE WHEN n < 5 THEN 'me' END, CASE WHEN n < 5 THEN 'turn' END, CASE WHEN n < 5 THEN now() END
    FROM generate_series(1, 2000) n;
  UPDATE threads SET archived = true WHERE id IN ('thread-7', 'thread-8');
  UPDATE threads SET pinned = true WHERE id IN ('thread-8', 'thread-9');
  CREATE TEMP TABLE sizes AS SELECT 'thread-' || n AS id,
    CASE n WHEN 1 THEN 20000 WHEN 2 THEN 200 ELSE 6 END AS size FROM generate_series(1, 2000) n;
  INSERT INTO messages (thread_id, seq, message_id, role, status, body, body_seq, commit_seq,
      created_at)
    SELECT id, n * 5, id || '-' || n,
      CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
      CASE n % 2 WHEN 0 THEN 'ended' END,
      CASE n % 2 WHEN 1 THEN '{"parts":[]}'
        ELSE '{"replyTo":null,"progress":{"status":"ended"},"steps":[],"unreadable":0}' END,
      n * 5 + 4, n * 5 + 4, 1
    FROM sizes, generate_series(1, size) n;
  INSERT INTO calls (thread_id, call_id, message_id, seq, name, life, input, output)
    SELECT id, id || '-call-' || n, id || '-' || n, n * 5 + 1, 'look_up', 'succeeded', '{}', '1'
    FROM sizes, generate_series(2, size, 2) n;
  INSERT INTO events (thread_id, seq, size, commit_seq, message_id, at, payload)
    SELECT id, 50000 + n, 1, 50000 + n, id || '-6', 1, '{"type":"text-ended","block":"0"}'
    FROM sizes, generate_series(1, 20) n;
  INSERT INTO files (id, owner_id, state, is_used, created_at, reserved_at, media_type, sha256)
    SELECT 'file-' || n, 'owner-' || n % 50, 'ready', n % 20 <> 0, 1, n, 'text/plain', ''
    FROM generate_series(1, 20000) n;
  INSERT INTO file_uses (thread_id, file_id)
    SELECT 'thread-' || 1 + n % 2000, 'file-' || n FROM generate_series(1, 20000) n WHERE n % 20 <> 0;
  INSERT INTO search_threads (thread_id, incarnation, seq)
    SELECT id, incarnation, seq - (id = 'thread-9')::integer FROM threads;
  INSERT INTO search_texts (thread_id, seq, owner_id, at, words)
    SELECT t.id, n * 5, t.owner_id, n, array_to_tsvector(ARRAY['word', 'rare' || t.id])
    FROM sizes s JOIN threads t ON t.id = s.id, generate_series(1, size) n;
  INSERT INTO inputs (thread_id, message_id, turn_id)
    SELECT 'thread-' || 1 + n % 2000, 'input-' || n, 'turn-' || n FROM generate_series(1, 20000) n;
  INSERT INTO repairs (at, thread_id, problem, note)
    SELECT n, 'thread-' || 1 + n % 2000, 'problem', '' FROM generate_series(1, 20000) n;
  INSERT INTO shares (id, thread_id, incarnation, created_at, seq)
    SELECT 'share-' || n, t.id, t.incarnation, n, CASE WHEN n % 10 <> 0 THEN n END
    FROM generate_series(1, 20000) n JOIN threads t ON t.id = 'thread-' || 1 + n % 2000;
  INSERT INTO share_messages (share_id, nth, body)
    SELECT 'share-' || 1 + n % 20000, n, '{}' FROM generate_series(1, 100000) n;
  ANALYZE;
`

let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: pg.Client
/** The plans of the statements that runs and requests need, made before anything was stored. */
const firstPlans = new Map<string, readonly PlanNode[]>()
const ledgerStatements = [
  ...Object.values(createLedgerStatements('holdfast')),
  ...commitKinds.filter((kind) => kind !== 'all').flatMap(toCommitStatements),
]

beforeAll(async () => {
  database = await createTestDatabase()
  client = await database.connect()
  const store = database.open()
  await store.readThread(parseThreadId('none'))
  await store.close()
  await client.query('SET enable_seqscan = off')
  for (const { name, text: query } of ledgerStatements) firstPlans.set(name, await explain(query))
  await client.query('RESET enable_seqscan')
  await client.query(fill)
  await client.query('RESET search_path')
})
afterAll(() => database.close())

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}
type Explained = readonly { readonly Plan: PlanNode & Record<string, unknown> }[]

const nodesOf = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(nodesOf),
]

async function explain(text: string): Promise<readonly PlanNode[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': Explained }>(
    `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
  )
  return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => nodesOf(Plan))
}

/** Whether it reads all rows of a thread, or of the table, and filters out most of them. */
const discards = (node: PlanNode) =>
  node['Relation Name'] !== 'threads' &&
  node['Index Name'] !== undefined &&
  node.Filter !== undefined &&
  !/ AND /.test(node['Index Cond'] ?? '')

const isWhole = (node: PlanNode) => node['Node Type'] === 'Seq Scan'

describe('[PG6] no query goes over a whole table', () => {
  it.each(queries)('[PG6] $name', async ({ text: query }) => {
    const nodes = await explain(query)
    expect(nodes.some((node) => node['Index Name'] !== undefined)).toBe(true)
    expect(nodes.filter(isWhole)).toEqual([])
  })

  it('[PG6] nor through a thread, while the tables are small and were never counted', async () => {
    const small = await openTestDatabase()
    await small.open().readThread(parseThreadId('none'))
    const fresh = await small.connect()
    await fresh.query(`SET enable_seqscan = off; SET search_path = holdfast;
      INSERT INTO calls (thread_id, call_id, message_id, seq, name, life)
        SELECT 'thread', 'call-' || n, 'turn', n, 'search', 'running' FROM generate_series(1, 400) n;
      INSERT INTO messages (thread_id, seq, message_id, role, status, commit_seq, created_at)
        SELECT 'thread', n, 'turn-' || n, 'assistant', 'ended', n, 1 FROM generate_series(1, 400) n`)
    const indexOf = async (table: string, column: string) => {
      const { rows } = await fresh.query<{ 'QUERY PLAN': Explained }>(
        `EXPLAIN (GENERIC_PLAN, FORMAT JSON)
         SELECT 1 FROM ${table} WHERE thread_id = $1 AND ${column} = $2`,
      )
      const nodes = rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => nodesOf(Plan))
      return nodes.flatMap((node) => node['Index Name'] ?? [])
    }
    expect(await indexOf('calls', 'call_id')).toEqual(['calls_pkey'])
    expect(await indexOf('calls', 'message_id')).toEqual(['calls_by_message'])
    expect(await indexOf('messages', 'message_id')).toEqual(['messages_by_id'])
  })

  it.each(['events', 'calls'] as const)(
    '[PG6 OP7] nor does a check for each of its %s, in tables that were never counted',
    async (table) => {
      const small = await openTestDatabase()
      await small.open().readThread(parseThreadId('none'))
      const fresh = await small.connect()
      await fresh.query(`SET search_path = holdfast;
        INSERT INTO messages (thread_id, seq, message_id, role, status, commit_seq, created_at)
          SELECT 'thread', n, 'turn-' || n, 'assistant', 'ended', n, 1 FROM generate_series(1, 4000) n;
        INSERT INTO calls (thread_id, call_id, message_id, seq, name, life)
          SELECT 'thread', 'call-' || n, 'turn-' || n, n, 'search', 'running' FROM generate_series(1, 4000) n`)
      for (const setting of scanSettings) await fresh.query(`SET ${setting}`)
      const scan = createAuditSql('holdfast').scans[table].replaceAll('$1', 'NULL')
      const { rows } = await fresh.query<{ 'QUERY PLAN': Explained }>(
        `EXPLAIN (FORMAT JSON) DECLARE scan CURSOR FOR ${scan}`,
      )
      const nodes = rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => nodesOf(Plan))
      const turns = nodes.filter((node) => node['Relation Name'] === 'messages')
      expect(turns.map((node) => node['Index Name'])).toEqual([
        expect.stringMatching(/^messages_(by_id|turns)$/) as string,
      ])
    },
  )

  it.each(ledgerStatements)('[PG6] nor $name, planned before anything was stored', ({ name }) => {
    expect(firstPlans.get(name)?.filter(discards)).toEqual([])
  })

  it('would be seen if one did', async () => {
    const nodes = await explain('SELECT 1 FROM holdfast.events WHERE payload = $1')
    expect(nodes.filter(isWhole)).toHaveLength(1)
  })

  /** A connection hands in its counts when it ends. */
  const allGone = () =>
    waitFor(
      client,
      `SELECT FROM pg_stat_activity WHERE application_name = 'holdfast'
         AND datname = current_database()`,
      (rows) => rows.length === 0,
    )

  it('[PG6] nor does any as it is run, whichever verb is used', async () => {
    const counts = `SELECT relname, seq_scan FROM pg_stat_user_tables
      WHERE relname IN ('threads', 'messages', 'events', 'calls') ORDER BY relname`
    await allGone()
    const store = database.open()
    const id = parseThreadId('fresh')
    const turn = parseMessageId('fresh-turn')
    const call = parseCallId('fresh-call')
    const before = await client.query(counts)

    await createThread(store, id)
    const create = { ownerId: ana, title: '', at }
    await appendEvents(store, {
      threadId: parseThreadId('made'),
      events: [messageAdded('Hi')],
      create,
    })
    const lease = { kind: 'acquire', holder: 'me', ttlMs: 0, turnId: turn } as const
    const { fence = -1 } = await append(store, [messageAdded('Hi'), started(turn)], {
      threadId: id,
      lease,
    })
    const hold = { kind: 'hold', fence, renewMs: 0 } as const
    await append(store, text('Hi', turn), { threadId: id, lease: hold })
    await append(store, [recorded(call, { turnId: turn }), begun(call, turn)], { threadId: id })
    await append(store, [succeeded(1, call, turn), ended(turn)], { threadId: id })
    const retired = { type: 'messages-retired', messageIds: [turn], at } as const
    const results = await commitTogether(store, [
      { threadId: id, events: [retired], lease: { kind: 'release', fence } },
      { threadId: parseThreadId('thread-3'), events: [messageAdded('Hi')] },
      { threadId: parseThreadId('thread-4'), events: [messageAdded('Hi')], expectedSeq: 1 },
    ])
    expect(results.map(({ kind }) => kind)).toEqual(['appended', 'appended', 'stale'])
    for (const order of ['newest-first', 'oldest-first'] as const) {
      await readPage(store, { threadId: parseThreadId('thread-1'), live: 'exclude', order })
    }
    await readChanges(store, 3, 100, parseThreadId('thread-1'))
    await store.readMessage(id, turn)
    await store.readCall(id, call)
    await store.findTurn(turn)
    await store.requestStop(id)
    await store.findAbandonedRuns(10)
    await store.listThreads({ ownerId: ana, limit: 10, before: null })
    for (const archived of [false, true]) {
      const list = { ownerId: ana, limit: 10, before: null }
      await store.listThreads({ ...list, filter: { archived } })
      await store.listThreads({ ...list, filter: { archived, pinned: true } })
    }
    await store.deleteThread(id)
    await store.close()
    await allGone()
    expect((await client.query(counts)).rows).toEqual(before.rows)
  })
})

it.each([
  ['listed', 'threads_listed'],
  ['archived', 'threads_archived'],
  ['pinned', 'threads_pinned'],
  ['pinnedArchived', 'threads_pinned_archived'],
] as const)('[FK2] a page of the list “%s” goes over no other threads', async (list, index) => {
  const nodes = await explain(listKept[list].text)
  expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toEqual([index])
  expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([])
})

describe('[PG6] the cost of a page does not grow with the thread', () => {
  async function countBlocks(order: 'readNewest' | 'readOldest', thread: string, before: number) {
    const { text: query } = statements[order] as Statement
    await client.query('SET plan_cache_mode = force_generic_plan; DEALLOCATE ALL')
    await client.query(
      `PREPARE page (integer, text, bigint, integer, integer, boolean, bigint, bigint) AS ${query}`,
    )
    const { rows } = await client.query<{ 'QUERY PLAN': Explained }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page(16000, '${thread}', ${before}, 51, 50, true, 4194304, NULL)`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
    return Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks'])
  }

  it.each([
    ['the newest', 'readNewest', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['the middle', 'readNewest', 50_000, 500],
    ['the oldest', 'readOldest', 0, 0],
  ] as const)('[PG6] at %s', async (_, order, inLong, inShort) => {
    const short = await countBlocks(order, 'thread-2', inShort)
    const long = await countBlocks(order, 'thread-1', inLong)
    expect(short).toBeGreaterThan(50)
    // A deeper index costs a block more for each probe.
    expect(long).toBeLessThan(short * 1.5)
  })
})
