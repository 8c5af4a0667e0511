import { assertNever } from '../../core/assert-never.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { RepairRequest, RepairStep } from '../audit.ts'
import { splitBatch } from '../event-batch.ts'
import { parseStoredJson } from '../stored-output.ts'
import type { AuditSql, LedgerTable } from './audit-sql.ts'
import { toPlainText } from './plain-text.ts'
import type { RunStatement } from './statement.ts'

/** Inside a transaction that has the thread locked: every step, and its record. */
export async function repairThread(
  run: RunStatement,
  sql: AuditSql,
  { threadId, at, steps }: RepairRequest,
): Promise<void> {
  await prepareRecord(run, sql)
  for (const step of steps) {
    const before = await applyStep(run, sql, threadId, step)
    const text = before === undefined ? null : JSON.stringify(before)
    await run(sql.record, [at, threadId, step.problem, toPlainText(step.note), text])
  }
}

/** Gives the row as it was before. */
async function applyStep(
  run: RunStatement,
  sql: AuditSql,
  threadId: ThreadId,
  step: RepairStep,
): Promise<JsonObject | undefined> {
  const change = (
    table: LedgerTable,
    id: string | number,
    to: (row: JsonObject) => JsonObject | null,
  ) => replace(run, sql, table, threadId, id, to)
  switch (step.kind) {
    case 'set-call':
      return change('calls', step.callId, (row) => {
        const quoted = (step.quotes ?? []).map((name): [string, Json] => {
          const column = name === 'modelOutput' ? 'model_output' : name
          return [column, JSON.stringify(row[column])]
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
      const { callId: call_id, life, input, turn } = step
      const [last] = await run<{ readonly seq: number }>(sql.lastCall, [
        threadId,
        turn.turnId,
        turn.seq,
      ])
      const seq = (last?.seq ?? turn.seq) + 1
      const name = toPlainText(step.name)
      const row = { thread_id: threadId, call_id, message_id: turn.turnId, seq, name, life, input }
      await insert(run, sql, 'calls', row)
      return undefined
    }
    case 'remove-call':
      return change('calls', step.callId, () => null)
    case 'set-message':
      return change('messages', step.seq, (row) => ({
        ...row,
        ...(step.status === undefined ? {} : { status: step.status }),
        ...(step.body === undefined ? {} : { body: step.body }),
        ...(step.isOpen === undefined ? {} : { is_sealed: false }),
      }))
    case 'set-event': {
      const { seq, at, payload } = step
      const before = await removeFact(run, sql, threadId, seq)
      const commit_seq = before?.commit_seq ?? seq
      const message_id = step.turn?.turnId ?? null
      const row = { thread_id: threadId, seq, size: 1, commit_seq, message_id, at, payload }
      await insert(run, sql, 'events', row)
      return before
    }
    case 'remove-event':
      return removeFact(run, sql, threadId, step.seq)
    case 'set-seq':
      await run(sql.setSeq, [threadId, step.seq])
      return undefined
    case 'record':
      return undefined
    default:
      return assertNever(step)
  }
}

/**
 * Takes one fact out of its batch, of which each other fact then has a row of its own. Gives the batch as
 * it was, so that all of it is in the record, whatever can be put back.
 */
async function removeFact(
  run: RunStatement,
  sql: AuditSql,
  threadId: ThreadId,
  seq: Seq,
): Promise<JsonObject | undefined> {
  const [found] = await run<{ readonly row: string }>(sql.readBatch, [threadId, seq])
  const row = found === undefined ? undefined : (JSON.parse(found.row) as BatchRow)
  if (row === undefined) return undefined
  await run(sql.rows.events.remove, [threadId, row.seq])
  for (const { seq: place, at, line: payload } of splitBatch({ ...row, turnId: null })) {
    if (place === seq) continue
    await run(sql.addFact, [JSON.stringify({ ...row, seq: place, size: 1, at, payload })])
  }
  return row
}

/** A row of events as the database gives it, with all its columns. */
interface BatchRow extends JsonObject {
  readonly seq: number
  readonly size: number
  readonly at: number
  readonly payload: string
}

/** Removes everything that names this thread, with a record of each row. */
export async function removeOrphanRows(
  run: RunStatement,
  sql: AuditSql,
  threadId: string,
  at: number,
): Promise<void> {
  await prepareRecord(run, sql)
  const [thread] = await run(sql.lockThread, [threadId])
  if (thread !== undefined) return
  for (const table of ['messages', 'events', 'calls'] as const) {
    const note = `A row of ${table} whose thread does not exist was removed.`
    for (const { row } of await run<{ readonly row: string }>(sql.rows[table].readAll, [
      threadId,
    ])) {
      await run(sql.record, [at, threadId, 'orphan-rows', note, row])
    }
    await run(sql.rows[table].removeAll, [threadId])
  }
}

async function prepareRecord(run: RunStatement, sql: AuditSql): Promise<void> {
  const [record] = await run<{ readonly found: string | null }>(sql.findRecord, [])
  if (record?.found != null) return
  for (const create of sql.createRecord) await run(create, [])
}

async function replace(
  run: RunStatement,
  sql: AuditSql,
  table: LedgerTable,
  threadId: ThreadId,
  id: string | number,
  change: (row: JsonObject) => JsonObject | null,
): Promise<JsonObject | undefined> {
  const { read, remove } = sql.rows[table]
  const [found] = await run<{ readonly row: string }>(read, [threadId, id])
  const before = found === undefined ? undefined : parseStoredJson(found.row)
  if (!isJsonObject(before)) return undefined
  const after = change(before)
  await run(remove, [threadId, id])
  if (after !== null) await insert(run, sql, table, after)
  return before
}

async function insert(
  run: RunStatement,
  sql: AuditSql,
  table: LedgerTable,
  row: JsonObject,
): Promise<void> {
  await run(sql.rows[table].insert, [JSON.stringify(row)])
}
