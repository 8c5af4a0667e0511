import { isTurnEvent, type TurnEvent } from '../core/event.ts'
import { toUserMessage } from '../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import {
  callsOf,
  type Message,
  type Turn,
  type TurnStatus,
  type UserMessage,
} from '../core/message.ts'
import {
  decodeBatch,
  decodeEvent,
  type EventBatch,
  type OutputOf,
  splitBatch,
} from './event-batch.ts'
import type {
  Changes,
  ChangesQuery,
  FoundCall,
  FoundTurn,
  Page,
  PageQuery,
  ResultMode,
  StoredChange,
} from './store.ts'
import { lazyBytes } from './store.ts'
import { type CallRow, readSnapshot } from './turn-snapshot.ts'
import { readUserRow } from './user-row.ts'

/** What one read of a database gives: rows of one snapshot, sorted by table, each in order of seq. */
export interface LedgerRows {
  readonly thread: ThreadRow | undefined
  readonly messages: readonly MessageRow[]
  readonly batches: readonly BatchRow[]
  readonly calls: readonly StoredCallRow[]
}

export interface ThreadRow {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  /** The turn that is being produced, where that was asked for. */
  readonly live: MessageId | null
}

export interface MessageRow {
  readonly id: MessageId
  readonly role: UserMessage['role'] | 'assistant'
  readonly status: TurnStatus | null
  readonly seq: Seq
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly at: number
  readonly body: string | null
}

export interface BatchRow extends EventBatch {
  readonly commitSeq: Seq
}

export interface StoredCallRow extends CallRow {
  readonly turnId: MessageId
}

/**
 * What a database is asked for. `mostBytes`: a larger output stays where it is, and the row says its
 * length.
 */
export interface LedgerSource {
  /** `places`: how many messages to look for; the rows of events and calls are of the first `limit`. */
  readPageRows(query: PageQuery & PageRead): Promise<LedgerRows>
  /** Messages by the seq of their body, batches, and the calls whose results they tell of. */
  readChangeRows(query: ChangesQuery & MostBytes): Promise<LedgerRows>
  readMessageRows(threadId: ThreadId, id: MessageId, mostBytes: number): Promise<LedgerRows>
  readTurnRows(id: MessageId, mostBytes: number): Promise<LedgerRows>
  /** The turn that has the call; one that has no row is of a turn that is running. */
  readCallRows(threadId: ThreadId, id: CallId, mostBytes: number): Promise<LedgerRows>
}
export interface MostBytes {
  readonly mostBytes: number
}
export interface PageRead extends MostBytes {
  readonly places: number
}

const everything = 0x7fff_ffff
const mostBytesOf = (results: ResultMode): number => (results === 'lazy' ? lazyBytes : everything)

/** The reads of what is in threads, the same for every database. */
export function createLedgerReader(source: LedgerSource) {
  return {
    async readPage(query: PageQuery): Promise<Page | null> {
      const { limit, results, order = 'newest-first' } = query
      // One more than is shown, so that the page knows whether anything follows (PG1).
      const places = limit + 1
      const rows = indexRows(
        await source.readPageRows({ ...query, order, places, mostBytes: mostBytesOf(results) }),
      )
      if (rows.thread === undefined) return null
      const shown = order === 'newest-first' ? rows.messages.toReversed() : rows.messages
      const { ownerId, seq, live } = rows.thread
      return {
        ownerId,
        seq,
        messages: shown.slice(0, limit).map((row) => readMessageRow(row, rows)),
        hasMore: shown.length > limit,
        live,
      }
    },

    async readChanges(query: ChangesQuery): Promise<Changes | null> {
      const { after, limit, results } = query
      const mostBytes = mostBytesOf(results)
      const rows = indexRows(await source.readChangeRows({ ...query, limit: limit + 1, mostBytes }))
      if (rows.thread === undefined) return null
      const all = [
        ...rows.batches
          .flatMap((batch) => listEvents(batch, rows.outputOf))
          .filter(({ seq }) => seq > after),
        ...rows.messages.map((row) => ({
          seq: row.bodySeq ?? row.seq,
          read: () => readBodyChange(row, rows),
        })),
      ].sort((left, right) => left.seq - right.seq)
      const shown = all.slice(0, limit)
      const { seq } = rows.thread
      return {
        seq,
        reached: shown.length < all.length ? (shown.at(-1)?.seq ?? after) : seq,
        changes: shown.map((change) => change.read()),
      }
    },

    async readMessage(threadId: ThreadId, messageId: MessageId): Promise<Message | null> {
      const rows = indexRows(await source.readMessageRows(threadId, messageId, everything))
      const [row] = rows.messages
      return row === undefined ? null : readMessageRow(row, rows)
    },

    async findTurn(messageId: MessageId): Promise<FoundTurn | null> {
      const rows = indexRows(await source.readTurnRows(messageId, everything))
      const [row] = rows.messages
      if (row === undefined || rows.thread === undefined) return null
      const { threadId, ownerId, seq } = rows.thread
      return { threadId, ownerId, seq, turn: readTurn(row, rows) }
    },

    async readCall(threadId: ThreadId, callId: CallId): Promise<FoundCall | null> {
      const rows = indexRows(await source.readCallRows(threadId, callId, everything))
      if (rows.thread === undefined) return null
      const { ownerId, seq } = rows.thread
      for (const row of rows.messages) {
        const turn = readTurn(row, rows)
        for (const call of callsOf(turn)) {
          if (call.id === callId) return { threadId, ownerId, seq, turn, call }
        }
      }
      return null
    },
  }
}

interface IndexedRows extends LedgerRows {
  readonly outputOf: OutputOf
  batchesOf(turnId: MessageId): readonly BatchRow[]
  callsOf(turnId: MessageId): readonly CallRow[]
}

function indexRows(rows: LedgerRows): IndexedRows {
  const calls = new Map(rows.calls.map((row) => [row.callId, row]))
  const batchesByTurn = Map.groupBy(rows.batches, (row) => row.turnId)
  const callsByTurn = Map.groupBy(calls.values(), (row) => row.turnId)
  return {
    ...rows,
    outputOf: (callId) => calls.get(callId),
    batchesOf: (turnId) => batchesByTurn.get(turnId) ?? [],
    callsOf: (turnId) => callsByTurn.get(turnId) ?? [],
  }
}

function readMessageRow(row: MessageRow, rows: IndexedRows): Message {
  return row.role === 'assistant' ? readTurn(row, rows) : toUserMessage(readUserRow(row))
}

/** A turn is its snapshot, if it has one, and the events since. */
function readTurn(row: MessageRow, rows: IndexedRows): Turn {
  const events = rows
    .batchesOf(row.id)
    .flatMap((batch) => decodeBatch(batch, rows.outputOf))
    .filter((event): event is TurnEvent => isTurnEvent(event))
  return foldTurn(readStoredSnapshot(row, rows.callsOf(row.id)), events)
}

/** The turn as of its snapshot; before its first event if it has none. */
export function readStoredSnapshot(row: MessageRow, calls: readonly CallRow[]): Turn {
  const { id, seq, at: createdAt, body, bodySeq } = row
  return body === null || bodySeq === null
    ? emptyTurn(id, seq, createdAt)
    : readSnapshot({ id, seq, bodySeq, createdAt }, body, calls)
}

/** Each is read only if it is shown. */
const listEvents = (
  batch: BatchRow,
  outputOf: OutputOf,
): readonly { readonly seq: Seq; readonly read: () => StoredChange }[] =>
  splitBatch(batch).map(({ seq, at, turnId, body }) => ({
    seq,
    read: () => ({
      kind: 'event',
      seq,
      commit: batch.commitSeq,
      event: decodeEvent({ seq, at, turnId }, body, outputOf),
    }),
  }))

/** A message that was added, or a turn as it ended. */
function readBodyChange(row: MessageRow, rows: IndexedRows): StoredChange {
  const { commitSeq: commit } = row
  const seq = row.bodySeq ?? row.seq
  return row.role === 'assistant'
    ? { kind: 'turn', seq, commit, turn: readStoredSnapshot(row, rows.callsOf(row.id)) }
    : { kind: 'event', seq, commit, event: readUserRow(row) }
}
