import { assertNever } from '../core/assert-never.ts'
import type { FileId } from '../core/file.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { RepairRequest, RepairStep, TurnRef } from './audit.ts'
import { splitBatch } from './event-batch.ts'

/** A row with all columns of its table, under the table's own names. */
export type StoredRow = JsonObject

export const ledgerTables = ['messages', 'events', 'calls'] as const
export type LedgerTable = (typeof ledgerTables)[number]
export type RowsByTable = Readonly<Record<LedgerTable, readonly StoredRow[]>>

/** The key column of each table within a thread. */
export const rowKeys = { messages: 'seq', events: 'seq', calls: 'call_id' } as const

/** The columns in which the databases differ. */
export interface RowDialect {
  /** The columns by which a row refers to its thread. */
  readonly ofThread: StoredRow
  /** The columns by which a row refers to its turn. */
  readonly ofTurn: (turn: TurnRef | null) => StoredRow
  readonly no: 0 | false
  /** Makes a name that a text column can hold. */
  readonly toText: (text: string) => string
}

/** The rows that a repair reads in its transaction, after the thread's seq was compared. */
export interface RepairScope {
  readonly messages: readonly Seq[]
  readonly calls: readonly CallId[]
  /** Every row that contains any of these seqs; none where `last` is 0. */
  readonly events: { readonly first: Seq; readonly last: Seq }
  /** Every row of `events` and `calls` that refers to one of these turns by its id. */
  readonly turns: readonly MessageId[]
}

export function scopeOfRepair(steps: readonly RepairStep[]): RepairScope {
  const messages = new Set<Seq>()
  const calls = new Set<CallId>()
  const turns = new Set<MessageId>()
  let [first, last] = [Number.MAX_SAFE_INTEGER, 0]
  for (const step of steps) {
    if (step.kind === 'set-message') messages.add(step.seq)
    if (step.kind === 'rename-turn') {
      messages.add(step.turn.seq)
      turns.add(step.turn.turnId)
    }
    if (step.kind === 'set-call' || step.kind === 'remove-call') calls.add(step.callId)
    if (step.kind !== 'set-event' && step.kind !== 'remove-event') continue
    first = Math.min(first, step.seq)
    last = Math.max(last, step.seq)
  }
  return { messages: [...messages], calls: [...calls], events: { first, last }, turns: [...turns] }
}

/**
 * The writes of a repair. A row that changes is removed and added, because triggers refuse to update what has
 * ended. Rows are removed first. An added event whose seq another row already has is left out; the record
 * still has the batch that it came from.
 */
export interface RowWrites {
  readonly removed: Readonly<Record<LedgerTable, readonly (string | number)[]>>
  readonly added: RowsByTable
  /** The new seq of the thread; null: unchanged. */
  readonly seq: Seq | null
  /** The new queue of the thread; null: unchanged. */
  readonly queue: string | null
  readonly usedFiles: readonly FileId[]
  readonly releasedFiles: readonly FileId[]
  readonly records: readonly RepairRecord[]
}

/** A row of the table `repairs`. */
export interface RepairRecord {
  readonly problem: string
  readonly note: string
  /** The row as it was before, as JSON text. */
  readonly before: string | null
}

/** The steps of a repair as writes of rows; each step sees the result of the ones before it. */
export function planRepair(
  { steps }: RepairRequest,
  rows: RowsByTable,
  dialect: RowDialect,
): RowWrites {
  const tables = {
    messages: new TableDraft('messages', rows.messages),
    events: new TableDraft('events', rows.events),
    calls: new TableDraft('calls', rows.calls),
  }
  // Renames come last: other steps refer to the turn by its old id, and their rows would be left without a
  // turn.
  const isRename = (step: RepairStep) => step.kind === 'rename-turn'
  const ordered = [...steps.filter((step) => !isRename(step)), ...steps.filter(isRename)]
  const records = ordered.map((step) => {
    const before = applyStep(tables, step, dialect)
    return toRecord(step.problem, dialect.toText(step.note), before)
  })
  const { messages, events, calls } = tables
  return {
    removed: { messages: messages.removed(), events: events.removed(), calls: calls.removed() },
    added: { messages: messages.added(), events: events.added(), calls: calls.added() },
    seq: steps.findLast((step) => step.kind === 'set-seq')?.seq ?? null,
    queue: steps.findLast((step) => step.kind === 'set-queue')?.queue ?? null,
    usedFiles: steps.flatMap((step) => (step.kind === 'use-file' ? [step.fileId] : [])),
    releasedFiles: steps.flatMap((step) => (step.kind === 'release-file' ? [step.fileId] : [])),
    records,
  }
}

/** Removes all rows of a thread that does not exist, and records each. */
export function planOrphanRemoval(rows: RowsByTable): RowWrites {
  const keys = (table: LedgerTable) =>
    rows[table].map((row) => row[rowKeys[table]] as string | number)
  return {
    removed: { messages: keys('messages'), events: keys('events'), calls: keys('calls') },
    added: { messages: [], events: [], calls: [] },
    seq: null,
    queue: null,
    usedFiles: [],
    releasedFiles: [],
    records: ledgerTables.flatMap((table) => {
      const note = `A row of ${table} whose thread does not exist was removed.`
      return rows[table].map((row) => toRecord('orphan-rows', note, row))
    }),
  }
}

const toRecord = (problem: string, note: string, before?: StoredRow): RepairRecord => ({
  problem,
  note,
  before: before === undefined ? null : JSON.stringify(before),
})

interface Drafts {
  readonly messages: TableDraft
  readonly events: TableDraft
  readonly calls: TableDraft
}

/** Returns the row as it was before. */
function applyStep(
  { messages, events, calls }: Drafts,
  step: RepairStep,
  { ofThread, ofTurn, no, toText }: RowDialect,
): StoredRow | undefined {
  switch (step.kind) {
    case 'set-call':
      return calls.change(step.callId, (row) => {
        const quoted = (step.quotes ?? []).map((name) => {
          const column = name === 'modelOutput' ? 'model_output' : name
          return [column, JSON.stringify(row[column])] as const
        })
        return {
          ...row,
          ...Object.fromEntries(quoted),
          ...(step.dropsOutput === true ? { output: null, model_output: null } : {}),
          ...(step.lifecycle === undefined ? {} : { life: step.lifecycle }),
        }
      })
    case 'add-call': {
      const { callId: call_id, turn, seq, lifecycle, input } = step
      calls.put({
        ...ofThread,
        call_id,
        ...ofTurn(turn),
        seq,
        name: toText(step.name),
        life: lifecycle,
        input,
      })
      return undefined
    }
    case 'remove-call':
      return calls.change(step.callId, () => null)
    case 'set-message':
      return messages.change(step.seq, (row) => ({
        ...row,
        ...(step.status === undefined ? {} : { status: step.status }),
        ...(step.body === undefined ? {} : { body: step.body }),
        ...(step.isOpen === undefined ? {} : { is_sealed: no }),
        ...(step.parentSeq === undefined ? {} : { parent_seq: step.parentSeq }),
        ...(step.versions === undefined ? {} : { versions: step.versions }),
      }))
    case 'rename-turn': {
      const { turn, to: message_id } = step
      // Where rows refer to their turn by its seq, the column does not exist and nothing matches.
      for (const table of [events, calls]) {
        for (const row of [...table.rows()]) {
          if (row['message_id'] === turn.turnId) table.put({ ...row, message_id })
        }
      }
      return messages.change(turn.seq, (row) => ({ ...row, message_id }))
    }
    case 'set-event': {
      const { seq, at, payload } = step
      const before = removeEvent(events, seq)
      const commit_seq = before?.['commit_seq'] ?? seq
      const mark = before?.['mark'] ?? ''
      events.put({ ...ofThread, seq, size: 1, commit_seq, mark, ...ofTurn(step.turn), at, payload })
      return before
    }
    case 'remove-event':
      return removeEvent(events, step.seq)
    case 'release-file':
      return { ...ofThread, file_id: step.fileId }
    case 'use-file':
    case 'set-seq':
    case 'set-queue':
    case 'record':
      return undefined
    default:
      return assertNever(step)
  }
}

/**
 * Removes one event from its batch; the other events of the batch get rows of their own. Returns the batch as
 * it was, so that the record is complete even if an event could not be written back.
 */
function removeEvent(events: TableDraft, seq: Seq): StoredRow | undefined {
  const row = events.get(seq) ?? findBatch(events, seq)
  if (row === undefined) return undefined
  const { seq: last, size, at, payload } = row as unknown as BatchColumns
  events.change(last, () => null)
  for (const event of splitBatch({ seq: last, size, at, payload, turnId: null })) {
    if (event.seq === seq || events.get(event.seq) !== undefined) continue
    events.put({ ...row, seq: event.seq, size: 1, at: event.at, payload: event.line })
  }
  return row
}

/** Of the rows that contain the seq, the one that ends first. */
function findBatch(events: TableDraft, seq: Seq): StoredRow | undefined {
  let found: BatchColumns | undefined
  for (const row of events.rows()) {
    const batch = row as unknown as BatchColumns
    const isInside = batch.seq >= seq && batch.seq - batch.size < seq
    if (isInside && (found === undefined || batch.seq < found.seq)) found = batch
  }
  return found as StoredRow | undefined
}

interface BatchColumns {
  readonly seq: Seq
  readonly size: number
  readonly at: number
  readonly payload: string
}

/** The rows of a table that a repair reads and changes, while it is planned. */
class TableDraft {
  readonly #key: string
  readonly #before: ReadonlyMap<string | number, StoredRow>
  readonly #now: Map<string | number, StoredRow>

  constructor(table: LedgerTable, rows: readonly StoredRow[]) {
    this.#key = rowKeys[table]
    this.#before = new Map(rows.map((row) => [this.#keyOf(row), row]))
    this.#now = new Map(this.#before)
  }

  get(key: string | number): StoredRow | undefined {
    return this.#now.get(key)
  }

  rows(): Iterable<StoredRow> {
    return this.#now.values()
  }

  put(row: StoredRow): void {
    this.#now.set(this.#keyOf(row), row)
  }

  /** `to` returns the new row, or null to remove it. Returns the row as it was before. */
  change(key: string | number, to: (row: StoredRow) => StoredRow | null): StoredRow | undefined {
    const before = this.#now.get(key)
    if (before === undefined) return undefined
    const after = to(before)
    if (after === null) this.#now.delete(key)
    else this.#now.set(key, after)
    return before
  }

  removed(): readonly (string | number)[] {
    return [...this.#before].flatMap(([key, row]) => (this.#now.get(key) === row ? [] : [key]))
  }

  added(): readonly StoredRow[] {
    return [...this.#now].flatMap(([key, row]) => (this.#before.get(key) === row ? [] : [row]))
  }

  #keyOf(row: StoredRow): string | number {
    return row[this.#key] as string | number
  }
}
