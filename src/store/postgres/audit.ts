import type { ThreadId } from '../../core/ids.ts'
import type { ListedThread } from '../../core/thread.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { type AuditSource, type Fetch, mergeAuditRows } from '../audit-rows.ts'
import {
  ledgerTables,
  planOrphanRemoval,
  planRepair,
  type RowWrites,
  scopeOfRepair,
  type StoredRow,
} from '../plan-repair.ts'
import { type ListedThreadRow, toListedThread } from '../thread-row.ts'
import { createAuditSql } from './audit-sql.ts'
import type { Database, DatabaseReader } from './database.ts'
import { toPlainText } from './plain-text.ts'
import { toStoreFault } from './postgres-error.ts'
import type { RunStatement, Statement } from './statement.ts'

/** A scan has a connection and a snapshot of its own, for as long as its reader takes. */
export function createPostgresAudit(database: Database, schema: string): StoreAudit {
  const sql = createAuditSql(schema)

  async function* snapshot<Row>(
    read: (reader: DatabaseReader) => AsyncIterable<Row>,
  ): AsyncGenerator<Row> {
    const reader = await database.openReader()
    try {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // It may be idle while what it has found is mended.
      await reader.query('SET LOCAL idle_in_transaction_session_timeout = 0')
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
    { removed, added, seq, queue, records }: RowWrites,
  ): Promise<void> {
    for (const table of ledgerTables) {
      const { remove, insert } = sql.rows[table]
      if (removed[table].length > 0) await run(remove, [threadId, removed[table]])
      if (added[table].length > 0) await run(insert, [JSON.stringify(added[table])])
    }
    if (seq !== null) await run(sql.setSeq, [threadId, seq])
    if (queue !== null) await run(sql.setQueue, [threadId, queue])
    const [record] = await run<{ readonly found: string | null }>(sql.findRecord, [])
    if (record?.found == null) for (const create of sql.createRecord) await run(create, [])
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
    // PostgreSQL has no quick look at its own files; it says what it meets while it reads.
    findFaults: async () => [],
    repair: (request) =>
      database.transaction(async (run) => {
        const { threadId, expectedSeq, at, steps } = request
        const [found] = await run<{ readonly seq: number }>(sql.lockThread, [threadId])
        if (found?.seq !== expectedSeq) return 'stale'
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

/** A cursor in the database, so that no table is ever here as a whole. */
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

/** As the database compares ids: byte by byte. */
const compareBytes = (left: string, right: string): number =>
  left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))
