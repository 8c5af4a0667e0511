import type { DatabaseSync } from 'node:sqlite'
import type { ThreadRecord } from '../../core/thread.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { removeOrphanRows, repairThread } from './audit-repair.ts'
import { scanRows } from './audit-rows.ts'
import { auditSql } from './audit-sql.ts'
import type { LeaseClock } from '../lease.ts'
import { iterateRows } from './iterate-rows.ts'
import type { ThreadKey } from './ledger-row.ts'
import { openDatabase } from './open-database.ts'
import { toStoreFault } from './sqlite-error.ts'

export interface AuditOptions extends LeaseClock {
  readonly file: string
  readonly busyTimeoutMs: number
}

/**
 * On connections of its own: a scan holds one snapshot for as long as its reader takes, while the
 * store, and every other process, goes on writing.
 */
export function createSqliteAudit(options: AuditOptions): StoreAudit {
  const { file, busyTimeoutMs } = options
  const open = () => openDatabase(file, busyTimeoutMs)

  const work = <Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', run: (db: DatabaseSync) => Result) => {
    const db = open()
    try {
      db.exec(begin)
      const result = run(db)
      db.exec('COMMIT')
      return result
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      // Takes back what was not committed.
      db.close()
    }
  }
  const readThread = (db: DatabaseSync, id: string) =>
    db.prepare(auditSql.readThread).get(id) as { thread: ThreadKey; seq: number } | undefined

  async function* snapshot<Row>(
    read: (db: DatabaseSync) => AsyncIterable<Row> | Iterable<Row>,
  ): AsyncGenerator<Row> {
    const db = open()
    try {
      db.exec('BEGIN')
      yield* read(db)
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      db.close()
    }
  }

  // Asked for every few messages of an import: this one is kept open.
  let lookup: DatabaseSync | undefined

  return {
    async findTurns(ids) {
      lookup ??= open()
      const found = lookup.prepare(auditSql.findTurns).all(JSON.stringify(ids))
      return found as unknown as readonly TurnHome[]
    },
    listThreads: () =>
      snapshot((db) => iterateRows(db, auditSql.listThreads)) as AsyncGenerator<ThreadRecord>,
    scan: (only) =>
      snapshot((db) => {
        if (only === undefined) return scanRows(db, null, options)
        const thread = readThread(db, only)?.thread
        return thread === undefined ? [] : scanRows(db, thread, options)
      }),
    async findFaults() {
      const found = work('BEGIN', (db) => db.prepare('PRAGMA quick_check(20)').all())
      return found.map((row) => String(row['quick_check'])).filter((text) => text !== 'ok')
    },
    async repair(request) {
      return work('BEGIN IMMEDIATE', (db) => {
        const found = readThread(db, request.threadId)
        if (found === undefined || found.seq !== request.expectedSeq) return 'stale'
        repairThread(db, found.thread, request)
        return 'repaired'
      })
    },
    async removeOrphans(key, at) {
      work('BEGIN IMMEDIATE', (db) => removeOrphanRows(db, Number(key), at))
    },
    close() {
      lookup?.close()
      lookup = undefined
    },
  }
}
