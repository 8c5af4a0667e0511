import type { ThreadId } from '../../core/ids.ts'
import type { ListedThread } from '../../core/thread.ts'
import { type AuditSource, type Fetch, mergeAuditRows } from '../audit-rows.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { isStale, type ThreadHead } from '../lease.ts'
import {
  type LedgerTable,
  ledgerTables,
  planOrphanRemoval,
  planRepair,
  rowKeys,
  type RowWrites,
  scopeOfRepair,
  type StoredRow,
} from '../plan-repair.ts'
import { type ListedThreadRow, toListedThread } from '../thread-row.ts'
import type { Database, DatabaseReader } from './database.ts'
import { createFileStatements, endUsesSql } from './file-records.ts'
import { leaseHeld } from './leases.ts'
import { toStoreFault } from './postgres-error.ts'
import { type RunStatement, type Statement, toCompactStatement, toPlainText } from './statement.ts'
import { listedColumns } from './thread-verbs.ts'

export const scanSettings = [
  // The transaction may be idle while the problems that were found are repaired.
  'idle_in_transaction_session_timeout = 0',
  // In tables that were not analyzed yet, the turn of each row would be found by a bitmap of all messages of its thread.
  'enable_bitmapscan = off',
] as const

/** A scan has its own connection and snapshot, for as long as its reader needs. */
export function createPostgresAudit(database: Database, schema: string): StoreAudit {
  const sql = createAuditSql(schema)

  async function* snapshot<Row>(
    read: (reader: DatabaseReader) => AsyncIterable<Row>,
  ): AsyncGenerator<Row> {
    const reader = await database.openReader()
    try {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      for (const setting of scanSettings) await reader.query(`SET LOCAL ${setting}`)
      yield* read(reader)
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      await reader.close()
    }
  }

  const createSource = (reader: DatabaseReader, only: ThreadId | null): AuditSource<ThreadId> => ({
    compare: compareBytes,
    open: (table, portion) => fetchFrom(reader, table, sql.scans[table], only, portion),
  })

  async function* list(reader: DatabaseReader): AsyncGenerator<ListedThread> {
    const fetch = fetchFrom<ListedThreadRow>(reader, 'list', sql.scans.list, null, 500)
    for (let found = await fetch(); found.length > 0; found = await fetch()) {
      yield* found.map(toListedThread)
    }
  }

  async function write(
    run: RunStatement,
    threadId: string,
    at: number,
    { removed, added, seq, queue, usedFiles, releasedFiles, records }: RowWrites,
  ): Promise<void> {
    for (const table of ledgerTables) {
      const { remove, insert } = sql.rows[table]
      if (removed[table].length > 0) await run(remove, [threadId, removed[table]])
      if (added[table].length > 0) await run(insert, [JSON.stringify(added[table])])
    }
    if (seq !== null) await run(sql.setSeq, [threadId, seq])
    if (queue !== null) await run(sql.setQueue, [threadId, queue])
    if (usedFiles.length > 0) await run(sql.useFiles, [threadId, usedFiles])
    if (releasedFiles.length > 0) await run(sql.releaseFiles, [threadId, releasedFiles, at])
    await run(sql.record, [
      at,
      threadId,
      records.map(({ problem }) => problem),
      records.map(({ note }) => note),
      records.map(({ before }) => before),
    ])
  }

  return {
    findTurns: (ids) => database.run<TurnHome>(sql.findTurns, [ids]),
    findSharedTurns: () => database.run<TurnHome>(sql.findSharedTurns, []),
    listThreads: () => snapshot(list),
    scan: (only) => snapshot((reader) => mergeAuditRows(createSource(reader, only ?? null))),
    // PostgreSQL has no quick check of its files; it reports damage when it reads it.
    findFaults: async () => [],
    repair: (request) =>
      database.transaction(async (run) => {
        const { threadId, at, steps } = request
        const [found] = await run<Pick<ThreadHead, 'seq' | 'incarnation'>>(sql.lockThread, [
          threadId,
        ])
        if (found === undefined || isStale(found, request)) return 'stale'
        const { messages, calls, events, turns } = scopeOfRepair(steps)
        const { first, last } = events
        const before = {
          messages: await readRows(run, sql.readMessages, [threadId, messages]),
          events: await readRows(run, sql.readEvents, [threadId, first, last, turns]),
          calls: await readRows(run, sql.readCalls, [threadId, calls, turns]),
        }
        const writes = planRepair(request, before, {
          ofThread: { thread_id: threadId },
          ofTurn: (turn) => ({ message_id: turn?.turnId ?? null }),
          no: false,
          toText: toPlainText,
        })
        await write(run, threadId, at, writes)
        return 'repaired'
      }),
    removeOrphans: (key, at) =>
      database.transaction(async (run) => {
        const [thread] = await run(sql.lockThread, [key])
        if (thread !== undefined) return
        const { messages, events, calls } = sql.rows
        const rows = {
          messages: await readRows(run, messages.readAll, [key]),
          events: await readRows(run, events.readAll, [key]),
          calls: await readRows(run, calls.readAll, [key]),
        }
        await write(run, key, at, planOrphanRemoval(rows))
      }),
    close: () => {},
  }
}

async function readRows(
  run: RunStatement,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly StoredRow[]> {
  const found = await run<{ readonly row: string }>(statement, values)
  return found.map(({ row }) => JSON.parse(row) as StoredRow)
}

/** Reads through a cursor in the database, so that no table is held in memory as a whole. */
function fetchFrom<Row extends object>(
  reader: DatabaseReader,
  name: string,
  text: string,
  only: ThreadId | null,
  portion: number,
): Fetch<Row> {
  let isOpen = false
  return async () => {
    if (!isOpen) await reader.query(`DECLARE scan_${name} NO SCROLL CURSOR FOR ${text}`, [only])
    isOpen = true
    return reader.query<Row>(`FETCH ${portion} FROM scan_${name}`)
  }
}

/** The order in which the database compares ids: byte by byte. */
const compareBytes = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))

/** `schema` is quoted. In each scan, $1 is one thread, or null for all. */
export function createAuditSql(schema: string) {
  const ofThread = (table: string) => `WHERE ($1::text IS NULL OR ${table} = $1)`
  /**
   * The turn that a row of `events` or `calls` refers to. OFFSET 0 keeps it an index probe for each row: on tables that were
   * not analyzed yet, as after an import, the planner joins every row with all turns of its thread.
   */
  const joinTurn = (row: string) => `LEFT JOIN LATERAL (
      SELECT * FROM ${schema}.messages WHERE thread_id = ${row}.thread_id
        AND message_id = ${row}.message_id AND role = 'assistant' OFFSET 0) AS m ON true`
  return {
    scans: {
      threads: `SELECT id AS key, id AS "threadId", owner_id AS "ownerId", seq, incarnation, queue, CASE WHEN lease_turn IS NOT NULL THEN
          json_build_object('turnId', lease_turn,
            'isHeld', ${leaseHeld('NULL::bigint')}) END AS lease,
          (SELECT coalesce(json_agg(u.file_id), '[]')::text FROM ${schema}.file_uses u
            WHERE u.thread_id = threads.id) AS files
        FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
      messages: `SELECT m.thread_id AS key, m.seq, m.message_id AS "messageId", m.role, m.status,
          m.body, m.body_seq AS "bodySeq", m.created_at AS "createdAt",
          NOT m.is_sealed AS "isOpen", m.retired_seq IS NOT NULL AS "isRetired",
          m.parent_seq AS "parentSeq", m.versions
        FROM ${schema}.messages m ${ofThread('m.thread_id')} ORDER BY m.thread_id, m.seq`,
      events: `SELECT e.thread_id AS key, e.seq, e.size, e.commit_seq AS "commitSeq", e.at,
          e.payload, e.message_id IS NOT NULL AS "ofTurn",
          m.message_id AS "turnId", m.seq AS "turnSeq", m.body_seq AS "bodySeq"
        FROM ${schema}.events e ${joinTurn('e')}
        ${ofThread('e.thread_id')} ORDER BY e.thread_id, e.seq - e.size, e.seq`,
      calls: `SELECT c.thread_id AS key, c.call_id AS "callId", c.name, c.life AS lifecycle, c.input, c.output,
          c.model_output AS "modelOutput", m.seq AS "turnSeq"
        FROM ${schema}.calls c ${joinTurn('c')}
        ${ofThread('c.thread_id')} ORDER BY c.thread_id, m.seq NULLS LAST, c.seq`,
      list: `SELECT ${listedColumns('title')} FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
    },
    findTurns: statement(
      'find-turns',
      `SELECT message_id AS "turnId", thread_id AS "threadId" FROM ${schema}.messages
       WHERE role = 'assistant' AND message_id = ANY ($1)`,
    ),
    findSharedTurns: statement(
      'find-shared-turns',
      `SELECT m.message_id AS "turnId", m.thread_id AS "threadId" FROM ${schema}.messages m
       JOIN ${schema}.threads t ON t.id = m.thread_id
       WHERE m.role = 'assistant' AND m.message_id IN (
         SELECT message_id FROM ${schema}.messages WHERE role = 'assistant'
         GROUP BY message_id HAVING count(*) > 1)
       ORDER BY m.message_id, (m.status = 'running' OR m.retired_seq IS NOT NULL) DESC,
         m.created_at, m.thread_id, m.seq`,
    ),
    lockThread: statement(
      'lock-thread',
      `SELECT seq, incarnation FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
    ),
    setSeq: statement('set-seq', `UPDATE ${schema}.threads SET seq = $2 WHERE id = $1`),
    setQueue: statement('set-queue', `UPDATE ${schema}.threads SET queue = $2 WHERE id = $1`),
    /** Every row that contains a seq from the first to the last, or refers to one of the turns. */
    readEvents: statement(
      'read-events',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.events t
       WHERE t.thread_id = $1
         AND (t.seq >= $2 AND t.seq - t.size < $3 OR t.message_id = ANY ($4::text[]))`,
    ),
    readCalls: statement(
      'read-calls',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.calls t WHERE t.thread_id = $1
         AND (t.call_id = ANY ($2::text[]) OR t.message_id = ANY ($3::text[]))`,
    ),
    readMessages: statement(
      'read-messages',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.messages t
       WHERE t.thread_id = $1 AND t.seq = ANY ($2::bigint[])`,
    ),
    useFiles: createFileStatements(schema).name,
    /** Kept as long as a new upload, where no other thread refers to them. */
    releaseFiles: statement(
      'release-files',
      `WITH freed AS (
         DELETE FROM ${schema}.file_uses WHERE thread_id = $1 AND file_id = ANY ($2::text[])
         RETURNING thread_id, file_id)
       ${endUsesSql(schema, '$3::bigint')}`,
    ),
    rows: {
      messages: rowStatements(schema, 'messages', 'bigint'),
      events: rowStatements(schema, 'events', 'bigint'),
      calls: rowStatements(schema, 'calls', 'text'),
    },

    /** Deleted with its thread: see `deleteThread`. */
    record: statement(
      'record',
      `INSERT INTO ${schema}.repairs (at, thread_id, problem, note, row_before)
       SELECT $1::bigint, $2::text, r.* FROM unnest($3::text[], $4::text[], $5::text[]) AS r`,
    ),
  }
}

function rowStatements(schema: string, table: LedgerTable, type: 'bigint' | 'text') {
  const rows = `FROM ${schema}.${table} t WHERE t.thread_id = $1`
  const byKey = `${rows} AND t.${rowKeys[table]} = ANY ($2::${type}[])`
  // An event whose seq another row already has is left out. Any other conflict is a fault.
  const onConflict = table === 'events' ? 'ON CONFLICT (thread_id, seq) DO NOTHING' : ''
  return {
    readAll: statement(`read-all-${table}`, `SELECT row_to_json(t)::text AS row ${rows}`),
    remove: statement(`remove-${table}`, `DELETE ${byKey}`),
    insert: statement(
      `insert-${table}`,
      `INSERT INTO ${schema}.${table}
       SELECT * FROM json_populate_recordset(NULL::${schema}.${table}, $1::json) ${onConflict}`,
    ),
  }
}

const statement = (name: string, text: string): Statement =>
  toCompactStatement(`audit-${name}`, text)
