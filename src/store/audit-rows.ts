import type { FileId } from '../core/file.ts'
import { filesInJson, mayNameFiles } from '../core/named-files.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { CallLifecycle } from '../core/lifecycle.ts'
import type {
  AuditCall,
  AuditEvent,
  AuditLease,
  AuditMessage,
  AuditRow,
  JsonColumn,
} from './audit.ts'
import { splitBatch } from './event-batch.ts'
import { parseJson } from '../core/json.ts'

/**
 * The columns that a scan reads of each table, the same for every database. `key` is the database's own key
 * of a thread, and the rows of every table come in its order.
 */
export interface AuditTables<Key> {
  /** One row per thread. */
  readonly threads: {
    readonly key: Key
    readonly threadId: ThreadId
    readonly ownerId: OwnerId
    readonly seq: Seq
    readonly incarnation: string
    readonly queue: string
    readonly lease: AuditLease | null
    /** A list of ids, as JSON text. */
    readonly files: string
  }
  /** In order of seq. */
  readonly messages: Omit<AuditMessage, 'kind' | 'isOpen' | 'isRetired' | 'calls'> & {
    readonly key: Key
    readonly isOpen: Flag
    readonly isRetired: Flag
  }
  /** Ordered by the first seq, then by the last: a damaged row may claim a seq inside another row. */
  readonly events: {
    readonly key: Key
    readonly seq: Seq
    readonly size: number
    readonly commitSeq: Seq
    readonly at: number
    readonly payload: string
    readonly ofTurn: Flag
    /** The turn that the row refers to; null where there is none. */
    readonly turnId: MessageId | null
    readonly turnSeq: Seq | null
    readonly bodySeq: Seq | null
  }
  /** Ordered by the seq of their turn; calls without a turn come last. */
  readonly calls: {
    readonly key: Key
    readonly callId: CallId
    readonly turnSeq: Seq | null
    readonly name: string
    readonly lifecycle: CallLifecycle
    readonly input: string | null
    readonly output: string | null
    readonly modelOutput: string | null
  }
}

/** SQLite has no booleans. */
type Flag = boolean | 0 | 1

/** The tables of one database, which a scan reads in portions from one snapshot. */
export interface AuditSource<Key> {
  readonly compare: (left: Key, right: Key) => number
  /**
   * Opens a table. Each call of the returned function reads the next rows, at most `portion`, and none at the
   * end.
   */
  open<Table extends keyof AuditTables<Key>>(
    table: Table,
    portion: number,
  ): Fetch<AuditTables<Key>[Table]>
}
export type Fetch<Row> = () => Promise<readonly Row[]>

/** How many rows of a table are held at once. A row of `events` may hold a thousand events. */
const portions = { threads: 200, messages: 200, events: 20, calls: 200 } as const
/** How many rows the scan yields at once. */
const rowsAtOnce = 500

/**
 * One pass over all tables together, thread by thread and in order of seq. It holds a portion of each table
 * and the calls of one turn, so that memory does not grow with the database.
 */
export async function* mergeAuditRows<Key>(
  source: AuditSource<Key>,
): AsyncGenerator<readonly AuditRow[]> {
  const { compare } = source
  const threads = new RowCursor(source.open('threads', portions.threads))
  const messages = new RowCursor(source.open('messages', portions.messages))
  const events = new RowCursor(splitBatches(source.open('events', portions.events)))
  const calls = new RowCursor(source.open('calls', portions.calls))
  const cursors = [threads, messages, events, calls] as const
  const isOf = (row: { readonly key: Key } | undefined, key: Key) =>
    row !== undefined && compare(row.key, key) === 0
  let rows: AuditRow[] = []

  /** Reads calls up to the seq of a turn: the calls of that turn are returned, every other call is an orphan. */
  const readCalls = async (
    key: Key,
    upTo: Seq | null,
    isTurn: boolean,
  ): Promise<readonly AuditCall[]> => {
    const found: AuditCall[] = []
    for (;;) {
      const wait = calls.load()
      if (wait !== undefined) await wait
      const call = calls.head
      if (call === undefined || !isOf(call, key)) return found
      const { turnSeq } = call
      if (upTo !== null && (turnSeq === null || turnSeq > upTo)) return found
      if (isTurn && turnSeq === upTo) found.push(toAuditCall(call))
      else rows.push({ kind: 'orphan-call', callId: call.callId })
      calls.skip()
    }
  }

  for (;;) {
    for (const cursor of cursors) await cursor.load()
    const heads = cursors.flatMap(({ head }) => head ?? [])
    const [first] = heads
    if (first === undefined) break
    const key = heads.reduce(
      (least, row) => (compare(row.key, least) < 0 ? row.key : least),
      first.key,
    )
    const thread = threads.head
    if (thread === undefined || !isOf(thread, key)) {
      let orphans = 0
      for (const cursor of [messages, events, calls]) {
        for (await cursor.load(); isOf(cursor.head, key); await cursor.load()) {
          orphans++
          cursor.skip()
        }
      }
      rows.push({ kind: 'orphan-rows', key: String(key), rows: orphans })
      continue
    }
    const { threadId, ownerId, seq, incarnation, queue, lease } = thread
    const files = JSON.parse(thread.files) as readonly FileId[]
    rows.push({ kind: 'thread', threadId, ownerId, seq, incarnation, queue, lease, files })
    threads.skip()
    for (;;) {
      // Awaited only if rows have to be fetched: this runs for every row.
      const wait = messages.load() ?? events.load()
      if (wait !== undefined) {
        await wait
        continue
      }
      const message = isOf(messages.head, key) ? messages.head : undefined
      const event = isOf(events.head, key) ? events.head : undefined
      if (message !== undefined && (event === undefined || message.seq <= event.seq)) {
        const isTurn = message.role === 'assistant'
        rows.push({
          ...message,
          kind: 'message',
          isOpen: Boolean(message.isOpen),
          isRetired: Boolean(message.isRetired),
          calls: await readCalls(key, message.seq, isTurn),
        })
        messages.skip()
      } else if (event !== undefined) {
        rows.push(event)
        events.skip()
      } else break
      if (rows.length >= rowsAtOnce) {
        yield rows
        rows = []
      }
    }
    await readCalls(key, null, false)
  }
  if (rows.length > 0) yield rows
}

/** The events of one batch after the other. */
function splitBatches<Key>(
  fetch: Fetch<AuditTables<Key>['events']>,
): Fetch<AuditEvent & { readonly key: Key }> {
  let batches: readonly AuditTables<Key>['events'][] = []
  let next = 0
  return async () => {
    for (;;) {
      const batch = batches[next++]
      const events = batch === undefined ? [] : toAuditEvents(batch)
      if (events.length > 0) return events
      if (batch !== undefined) continue
      batches = await fetch()
      next = 0
      if (batches.length === 0) return []
    }
  }
}

function toAuditEvents<Key>(
  batch: AuditTables<Key>['events'],
): readonly (AuditEvent & { readonly key: Key })[] {
  const { key, commitSeq, turnId, turnSeq, bodySeq } = batch
  const ofTurn = Boolean(batch.ofTurn)
  const turn = turnId === null || turnSeq === null ? null : { turnId, seq: turnSeq, bodySeq }
  return splitBatch(batch).map(({ seq, at, line: payload }) => ({
    kind: 'event',
    key,
    seq,
    commitSeq,
    ofTurn,
    turn,
    at,
    payload,
  }))
}

function toAuditCall(row: AuditTables<unknown>['calls']): AuditCall {
  const files: FileId[] = []
  return {
    callId: row.callId,
    name: row.name,
    lifecycle: row.lifecycle,
    input: judgeJson(row.input, files),
    output: judgeJson(row.output, files),
    modelOutput: judgeJson(row.modelOutput),
    files,
  }
}

/** Adds the files that the value refers to. */
function judgeJson(text: string | null, files?: FileId[]): JsonColumn {
  if (text === null) return 'none'
  const value = parseJson(text)
  if (value === undefined) return 'broken'
  if (files !== undefined && mayNameFiles(text)) files.push(...filesInJson(value))
  return 'json'
}

/** Rows that are fetched in portions and read one by one. */
class RowCursor<Row> {
  readonly #fetch: Fetch<Row>
  #rows: readonly Row[] = []
  #next = 0
  #isOver = false

  constructor(fetch: Fetch<Row>) {
    this.#fetch = fetch
  }

  /** Must have resolved before `head` is read. Most of the time nothing has to be fetched. */
  load(): Promise<void> | undefined {
    return this.#next < this.#rows.length || this.#isOver ? undefined : this.#fetchNext()
  }

  get head(): Row | undefined {
    return this.#rows[this.#next]
  }

  skip(): void {
    this.#next++
  }

  async #fetchNext(): Promise<void> {
    this.#rows = await this.#fetch()
    this.#next = 0
    this.#isOver = this.#rows.length === 0
  }
}
