import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { assertNever } from '../../core/assert-never.ts'
import type { Seq } from '../../core/ids.ts'
import type { RepairRequest, RepairStep } from '../audit.ts'
import { type EventBatch, splitBatch } from '../event-batch.ts'
import { auditSql, type LedgerTable, rowSql } from './audit-sql.ts'
import { iterateRows } from './iterate-rows.ts'
import type { ThreadKey } from './ledger-row.ts'

type Row = Record<string, SQLInputValue>

/** Inside a transaction: every step, and its record. */
export function repairThread(
  db: DatabaseSync,
  thread: ThreadKey,
  { threadId, at, steps }: RepairRequest,
): void {
  db.exec(auditSql.createRecord)
  const record = db.prepare(auditSql.record)
  for (const step of steps) {
    const before = applyStep(db, thread, step)
    const text = before === undefined ? null : JSON.stringify(before)
    record.run(at, threadId, step.problem, step.note, text)
  }
}

/** Gives the row as it was before. */
function applyStep(db: DatabaseSync, thread: ThreadKey, step: RepairStep): Row | undefined {
  switch (step.kind) {
    case 'set-call':
      return replace(db, 'calls', thread, step.callId, (row) => {
        const quoted = (step.quotes ?? []).map((name) => {
          const column = name === 'modelOutput' ? 'model_output' : name
          return [column, JSON.stringify(row[column])] as const
        })
        const dropped = step.dropsOutput === true ? { output: null, model_output: null } : {}
        return {
          ...row,
          ...Object.fromEntries(quoted),
          ...dropped,
          ...(step.life === undefined ? {} : { life: step.life }),
        }
      })
    case 'add-call': {
      const { callId: call_id, name, life, input } = step
      const turn = step.turn.seq
      const last = db
        .prepare('SELECT max(seq) AS seq FROM calls WHERE thread = ? AND turn = ?')
        .get(thread, turn)
      const seq = Number(last?.['seq'] ?? turn) + 1
      insert(db, 'calls', { thread, call_id, turn, seq, name, life, input })
      return undefined
    }
    case 'remove-call':
      return replace(db, 'calls', thread, step.callId, () => null)
    case 'set-message':
      return replace(db, 'messages', thread, step.seq, (row) => ({
        ...row,
        ...(step.status === undefined ? {} : { status: step.status }),
        ...(step.body === undefined ? {} : { body: step.body }),
        ...(step.isOpen === undefined ? {} : { is_sealed: 0 }),
      }))
    case 'set-event': {
      const { seq, at, payload } = step
      const turn = step.turn?.seq ?? null
      const before = takeFact(db, thread, seq)
      const commit_seq = before?.['commit_seq'] ?? seq
      insert(db, 'events', { thread, seq, size: 1, commit_seq, turn, at, payload })
      return before
    }
    case 'remove-event':
      return takeFact(db, thread, step.seq)
    case 'set-seq':
      db.prepare('UPDATE threads SET seq = ? WHERE thread = ?').run(step.seq, thread)
      return undefined
    case 'record':
      return undefined
    default:
      return assertNever(step)
  }
}

/** Takes one fact out, and the others of its batch apart. Gives the row that it was in. */
function takeFact(db: DatabaseSync, thread: ThreadKey, seq: Seq): Row | undefined {
  const found = db.prepare(auditSql.readPackOf).get(thread, seq)
  if (found === undefined) return undefined
  const batch = { ...(found as unknown as Omit<EventBatch, 'turnId'>), turnId: null }
  if (batch.size === 1 || batch.seq - batch.size >= seq) {
    return replace(db, 'events', thread, seq, () => null)
  }
  replace(db, 'events', thread, batch.seq, () => null)
  const put = db.prepare(auditSql.putFact)
  const { commit_seq = batch.seq, turn = null } = found
  for (const fact of splitBatch(batch)) {
    if (fact.seq !== seq) put.run(thread, fact.seq, commit_seq, turn, fact.at, fact.line)
  }
  return found
}

/** Removes everything that has this thread's number, with a record of each row. */
export function removeOrphanRows(db: DatabaseSync, thread: ThreadKey, at: number): void {
  db.exec(auditSql.createRecord)
  const record = db.prepare(auditSql.record)
  const isThere = db.prepare('SELECT 1 FROM threads WHERE thread = ?')
  if (isThere.get(thread) !== undefined) return
  for (const table of ['messages', 'events', 'calls'] as const) {
    for (const row of iterateRows(db, `SELECT * FROM ${table} WHERE thread = ?`, thread)) {
      const note = `A row of ${table} whose thread does not exist was removed.`
      record.run(at, `#${thread}`, 'orphan-rows', note, JSON.stringify(row))
    }
    db.prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread)
  }
}

function replace(
  db: DatabaseSync,
  table: LedgerTable,
  thread: ThreadKey,
  id: SQLInputValue,
  change: (row: Row) => Row | null,
): Row | undefined {
  const { read, remove } = rowSql[table]
  const before = db.prepare(read).get(thread, id) as Row | undefined
  if (before === undefined) return undefined
  const after = change(before)
  db.prepare(remove).run(thread, id)
  if (after !== null) insert(db, table, after)
  return before
}

function insert(db: DatabaseSync, table: LedgerTable, row: Row): void {
  const columns = Object.keys(row)
  const places = columns.map(() => '?').join(', ')
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`
  db.prepare(text).run(...Object.values(row))
}
