import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { MessageId } from '../../core/ids.ts'
import type { ListedThread } from '../../core/thread.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { type AuditSource, type AuditTables, mergeAuditRows } from '../audit-rows.ts'
import { isHeld, type LeaseClock } from '../lease.ts'
import {
  type LedgerTable,
  ledgerTables,
  planOrphanRemoval,
  planRepair,
  type RepairScope,
  rowKeys,
  type RowsByTable,
  type RowWrites,
  scopeOfRepair,
  type StoredRow,
} from '../plan-repair.ts'
import { type ListedThreadRow, toListedThread } from '../thread-row.ts'
import { auditSql } from './audit-sql.ts'
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

  const transaction = <Result>(
    begin: 'BEGIN' | 'BEGIN IMMEDIATE',
    run: (db: DatabaseSync) => Result,
  ): Result => {
    const db = open()
    try {
      db.exec(begin)
      const result = run(db)
      db.exec('COMMIT')
      return result
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      // Rolls back what was not committed.
      db.close()
    }
  }

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

  // An import looks up turns every few messages, so this connection stays open.
  let lookup: DatabaseSync | undefined

  return {
    async findTurns(ids) {
      lookup ??= open()
      const found = lookup.prepare(auditSql.findTurns).all(JSON.stringify(ids))
      return found as unknown as readonly TurnHome[]
    },
    findSharedTurns: async () =>
      transaction('BEGIN', (db) =>
        db.prepare(auditSql.findSharedTurns).all(),
      ) as unknown as readonly TurnHome[],
    listThreads: () => snapshot((db) => threadsOf(iterateRows(db, auditSql.listThreads))),
    scan: (only) =>
      snapshot((db) => {
        const key = only === undefined ? null : readHead(db, only)?.thread
        return key === undefined ? [] : mergeAuditRows(createSource(db, key, options))
      }),
    async findFaults() {
      const found = transaction('BEGIN', (db) => db.prepare('PRAGMA quick_check(20)').all())
      return found.map((row) => String(row['quick_check'])).filter((text) => text !== 'ok')
    },
    async repair(request) {
      const { threadId, expectedSeq, at, steps } = request
      return transaction('BEGIN IMMEDIATE', (db) => {
        const head = readHead(db, threadId)
        if (head?.seq !== expectedSeq) return 'stale'
        const { thread } = head
        const writes = planRepair(request, readScope(db, thread, scopeOfRepair(steps)), {
          ofThread: { thread },
          ofTurn: (turn) => ({ turn: turn?.seq ?? null }),
          no: 0,
          toText: (text) => text,
        })
        write(db, thread, threadId, at, writes)
        return 'repaired'
      })
    },
    async removeOrphans(key, at) {
      const thread = Number(key)
      transaction('BEGIN IMMEDIATE', (db) => {
        if (db.prepare('SELECT 1 FROM threads WHERE thread = ?').get(thread) !== undefined) return
        const readAll = (table: LedgerTable) =>
          readRows(db, `SELECT * FROM ${table} WHERE thread = ?`, thread)
        const rows = {
          messages: readAll('messages'),
          events: readAll('events'),
          calls: readAll('calls'),
        }
        write(db, thread, `#${key}`, at, planOrphanRemoval(rows))
      })
    },
    close() {
      lookup?.close()
      lookup = undefined
    },
  }
}

const readHead = (db: DatabaseSync, id: string) =>
  db.prepare('SELECT thread, seq FROM threads WHERE id = ?').get(id) as
    | { readonly thread: ThreadKey; readonly seq: number }
    | undefined

/** A thread as the scan reads it: who holds a lease is judged by the clock and the processes of this machine. */
interface LeasedThread extends Omit<AuditTables<ThreadKey>['threads'], 'lease'> {
  readonly holder: string | null
  readonly turnId: MessageId | null
  readonly until: number | null
}

function createSource(
  db: DatabaseSync,
  only: ThreadKey | null,
  clock: LeaseClock,
): AuditSource<ThreadKey> {
  const toThread = ({ holder, until, turnId, ...thread }: LeasedThread) => ({
    ...thread,
    lease: turnId === null ? null : { turnId, isHeld: isHeld({ holder, until }, clock) },
  })
  return {
    compare: (left, right) => left - right,
    open<Table extends keyof AuditTables<ThreadKey>>(table: Table, portion: number) {
      const rows = iterateRows(db, auditSql.scans[table], only)
      return async () => {
        const found: unknown[] = []
        while (found.length < portion) {
          const next = rows.next()
          if (next.done === true) break
          found.push(table === 'threads' ? toThread(next.value as LeasedThread) : next.value)
        }
        return found as readonly AuditTables<ThreadKey>[Table][]
      }
    },
  }
}

const readRows = (
  db: DatabaseSync,
  text: string,
  ...params: readonly SQLInputValue[]
): readonly StoredRow[] => db.prepare(text).all(...params) as unknown as readonly StoredRow[]

function readScope(db: DatabaseSync, thread: ThreadKey, scope: RepairScope): RowsByTable {
  const { first, last } = scope.events
  const byKey = (table: LedgerTable, keys: readonly (string | number)[]) =>
    readRows(db, auditSql.readByKey(table, rowKeys[table]), thread, JSON.stringify(keys))
  return {
    messages: byKey('messages', scope.messages),
    events: readRows(db, auditSql.readEvents, thread, first, last),
    calls: byKey('calls', scope.calls),
  }
}

/** `name`: what the record calls the thread. */
function write(
  db: DatabaseSync,
  thread: ThreadKey,
  name: string,
  at: number,
  { removed, added, seq, queue, records }: RowWrites,
): void {
  for (const table of ledgerTables) {
    const remove = db.prepare(`DELETE FROM ${table} WHERE thread = ? AND ${rowKeys[table]} = ?`)
    for (const key of removed[table]) remove.run(thread, key)
    for (const row of added[table]) {
      const insert = db.prepare(auditSql.insert(table, Object.keys(row)))
      insert.run(...(Object.values(row) as SQLInputValue[]))
    }
  }
  if (seq !== null) db.prepare('UPDATE threads SET seq = ? WHERE thread = ?').run(seq, thread)
  if (queue !== null) db.prepare('UPDATE threads SET queue = ? WHERE thread = ?').run(queue, thread)
  db.exec(auditSql.createRecord)
  const record = db.prepare(auditSql.record)
  for (const { problem, note, before } of records) record.run(at, name, problem, note, before)
}

function* threadsOf(rows: Iterable<unknown>): Generator<ListedThread> {
  for (const row of rows) yield toListedThread(row as ListedThreadRow)
}
