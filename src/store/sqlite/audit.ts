import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { MessageId } from '../../core/ids.ts'
import type { ListedThread } from '../../core/thread.ts'
import { type AuditSource, type AuditTables, mergeAuditRows } from '../audit-rows.ts'
import type { StoreAudit, TurnHome } from '../audit.ts'
import { isHeld, isStale, type LeaseClock, type ThreadHead } from '../lease.ts'
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
import { createFairTurns } from './fair-turns.ts'
import { fileSql } from './file-records.ts'
import { listedColumns, nobodys } from './ledger-sql.ts'
import { openDatabase } from './open-database.ts'
import type { ThreadKey } from './prepared-statement.ts'
import { toStoreFault } from './sqlite-error.ts'

export interface AuditOptions extends LeaseClock {
  readonly file: string
  readonly busyTimeoutMs: number
}

/**
 * Uses connections of its own: a scan holds one snapshot for as long as its reader needs, while the store and
 * every other process continue to write.
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

  // Stays open, because an import looks up turns every few messages.
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
      const { threadId, at, steps } = request
      return transaction('BEGIN IMMEDIATE', (db) => {
        const head = readHead(db, threadId)
        if (head === undefined || isStale(head, request)) return 'stale'
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
  db.prepare('SELECT thread, seq, incarnation FROM threads WHERE id = ?').get(id) as
    | (Pick<ThreadHead, 'seq' | 'incarnation'> & { readonly thread: ThreadKey })
    | undefined

/**
 * A thread as the scan reads it. Whether its lease is held is decided by the clock and the processes of this
 * machine.
 */
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
      const waitForTurn = createFairTurns()
      return async () => {
        await waitForTurn()
        const found: unknown[] = []
        // Bodies may be large, so a portion also ends with its time slice; but never before its first row,
        // because an empty portion means the end of the table.
        while (found.length < portion && (found.length === 0 || waitForTurn() === undefined)) {
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

/** `name`: the thread's id in the record. */
function write(
  db: DatabaseSync,
  thread: ThreadKey,
  name: string,
  at: number,
  { removed, added, seq, queue, usedFiles, releasedFiles, records }: RowWrites,
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
  const [use, mark] = [db.prepare(fileSql.useFile), db.prepare(fileSql.markFileUsed)]
  for (const id of usedFiles) {
    use.run({ thread, id, queued: 0 })
    mark.run({ thread, id })
  }
  const [end, release] = [db.prepare(auditSql.endUse), db.prepare(fileSql.releaseFile)]
  for (const id of releasedFiles) {
    end.run(thread, id)
    release.run({ id, at })
  }
  db.exec(auditSql.createRecord)
  const record = db.prepare(auditSql.record)
  for (const { problem, note, before } of records) record.run(at, name, problem, note, before)
}

function* threadsOf(rows: Iterable<unknown>): Generator<ListedThread> {
  for (const row of rows) yield toListedThread(row as ListedThreadRow)
}

/**
 * `?` is the key of one thread, or null for all. Threads that are being deleted are left out
 * (`hidden-threads.ts`). Written as `?` each time, because Node 22.13 cannot bind `?1` twice.
 */
const ofThread = (table: string) => `WHERE ${table}.thread = ifnull(?, ${table}.thread)
  AND ${table}.thread NOT IN (SELECT thread FROM threads WHERE owner_id IN ${nobodys})`

const auditSql = {
  scans: {
    threads: `SELECT thread AS key, id AS threadId, owner_id AS ownerId, seq, incarnation, queue, lease_holder AS holder,
      lease_turn AS turnId, lease_until AS until, (SELECT json_group_array(u.file_id) FROM file_uses u
      WHERE u.thread = threads.thread) AS files FROM threads ${ofThread('threads')} ORDER BY thread`,
    messages: `SELECT thread AS key, seq, message_id AS messageId, role, status,
      NOT is_sealed AS isOpen, retired_seq IS NOT NULL AS isRetired, body, body_seq AS bodySeq,
      created_at AS createdAt, parent_seq AS parentSeq, versions
      FROM messages ${ofThread('messages')} ORDER BY thread, seq`,
    events: `SELECT e.thread AS key, e.seq, e.size, e.commit_seq AS commitSeq, e.at, e.payload,
      e.turn IS NOT NULL AS ofTurn, m.message_id AS turnId, m.seq AS turnSeq, m.body_seq AS bodySeq
      FROM events e LEFT JOIN messages m
        ON m.thread = e.thread AND m.seq = e.turn AND m.role = 'assistant'
      ${ofThread('e')} ORDER BY e.thread, e.seq - e.size, e.seq`,
    calls: `SELECT thread AS key, call_id AS callId, turn AS turnSeq, name, life AS lifecycle, input, output,
      model_output AS modelOutput FROM calls ${ofThread('calls')} ORDER BY thread, turn, seq`,
  },
  listThreads: `SELECT ${listedColumns('title')} FROM threads WHERE owner_id NOT IN ${nobodys} ORDER BY thread`,
  findTurns: `SELECT m.message_id AS turnId, t.id AS threadId FROM messages m
    JOIN threads t ON t.thread = m.thread
    WHERE m.role = 'assistant' AND m.message_id IN (SELECT value FROM json_each(?))`,

  findSharedTurns: `SELECT m.message_id AS turnId, t.id AS threadId FROM messages m
    JOIN threads t ON t.thread = m.thread
    WHERE m.role = 'assistant' AND m.message_id IN (
      SELECT message_id FROM messages WHERE role = 'assistant'
      GROUP BY message_id HAVING count(*) > 1)
    ORDER BY m.message_id, m.status = 'running' OR m.retired_seq IS NOT NULL DESC, m.created_at,
      m.thread, m.seq`,

  endUse: 'DELETE FROM file_uses WHERE thread = ? AND file_id = ?',
  readByKey: (table: LedgerTable, key: string) =>
    `SELECT * FROM ${table} WHERE thread = ? AND ${key} IN (SELECT value FROM json_each(?))`,
  /** Every row that contains a seq from the first to the last. */
  readEvents: 'SELECT * FROM events WHERE thread = ? AND seq >= ? AND seq - size < ?',
  /** An event whose seq another row already has is left out. Any other conflict is a fault. */
  insert: (table: LedgerTable, columns: readonly string[]) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ${table === 'events' ? 'ON CONFLICT (thread, seq) DO NOTHING' : ''}`,

  // Created with the first record, and deleted with its thread.
  createRecord: `CREATE TABLE IF NOT EXISTS repairs (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, thread_id TEXT NOT NULL,
      problem TEXT NOT NULL, note TEXT NOT NULL, row_before TEXT
    ) STRICT;
    CREATE TRIGGER IF NOT EXISTS repairs_go_with_their_thread AFTER DELETE ON threads
    BEGIN DELETE FROM repairs WHERE thread_id = OLD.id; END`,
  record: `INSERT INTO repairs (at, thread_id, problem, note, row_before)
    VALUES (?, ?, ?, ?, ?)`,
} as const

const statements = new WeakMap<DatabaseSync, StatementSync[]>()

/**
 * The rows of a statement, one at a time, as in the newest Node. In Node 22 an iterator does not keep its
 * statement alive: an unreferenced statement is finalized by the next garbage collection, in the middle of
 * its rows. So it is referenced as long as its connection is open; use this only with short-lived
 * connections.
 */
function iterateRows(
  db: DatabaseSync,
  text: string,
  ...params: readonly SQLInputValue[]
): Generator<unknown, void> {
  const statement = db.prepare(text)
  const held = statements.get(db)
  if (held === undefined) statements.set(db, [statement])
  else held.push(statement)
  return rowsOf(statement, params)
}

/** In Node 24.0 calling `next` again after the last row starts the iterator again; a generator does not. */
function* rowsOf(
  statement: StatementSync,
  params: readonly SQLInputValue[],
): Generator<unknown, void> {
  yield* statement.iterate(...params)
}
