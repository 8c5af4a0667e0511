import type pg from 'pg'
import type { ThreadId } from '../../core/ids.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { removeOrphanRows, repairThread } from './audit-repair.ts'
import { fetchFrom, scanRows } from './audit-rows.ts'
import { createAuditSql } from './audit-sql.ts'
import type { Database } from './database.ts'
import { toStoreFault } from './postgres-error.ts'

/** A scan has a connection and a snapshot of its own, for as long as its reader takes. */
export function createPostgresAudit(database: Database, schema: string): StoreAudit {
  const sql = createAuditSql(schema)

  async function* snapshot<Row>(
    read: (client: pg.Client) => AsyncIterable<Row>,
  ): AsyncGenerator<Row> {
    // Makes the tables, if nobody has yet.
    await database.run(sql.findRecord, [])
    const client = database.createClient()
    try {
      await client.connect()
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // The reader may be busy mending what it has found.
      await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
      yield* read(client)
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      await client.end()
    }
  }

  async function* list(client: pg.Client): AsyncGenerator<ThreadRecord> {
    const fetch = fetchFrom(client, 'list', sql.scans.list, null, (thread: ThreadRecord) => thread)
    for (let found = await fetch(); found.length > 0; found = await fetch()) yield* found
  }

  return {
    findTurns: (ids) => database.run<TurnHome>(sql.findTurns, [ids]),
    listThreads: () => snapshot(list),
    scan: (only?: ThreadId) => snapshot((client) => scanRows(client, sql, only ?? null)),
    // PostgreSQL has no quick look at its own files; it says what it meets while it reads.
    findFaults: async () => [],
    repair: (request) =>
      database.transaction(async (run) => {
        const { threadId, expectedSeq } = request
        const [found] = await run<{ readonly seq: number }>(sql.lockThread, [threadId])
        if (found?.seq !== expectedSeq) return 'stale'
        await repairThread(run, sql, request)
        return 'repaired'
      }),
    removeOrphans: (key, at) => database.transaction((run) => removeOrphanRows(run, sql, key, at)),
    close: () => {},
  }
}
