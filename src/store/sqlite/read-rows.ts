import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { splitBatch } from '../event-batch.ts'
import type {
  BatchRow,
  LedgerRows,
  LedgerSource,
  MessageRow,
  StoredCallRow,
} from '../ledger-rows.ts'
import type { AsyncConnection } from './connection.ts'
import type { BatchRecord, MessageRecord, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

const nothing: LedgerRows = { thread: undefined, messages: [], batches: [], calls: [] }

/** Each is one snapshot of the file. */
export function createSqliteSource(connection: Pick<AsyncConnection, 'read'>): LedgerSource {
  return {
    /** Two phases (PG1): the edges from an index of places alone, then what is inside them. */
    async readPageRows({ threadId, before, order, live, limit, places, mostBytes }) {
      return connection.read((statements) => {
        const head = statements.readThread.get(threadId)
        const thread = statements.readKey.get(threadId)?.thread
        if (head === undefined || thread === undefined) return nothing
        const running = live === 'exclude' ? statements.findRunning.all(thread) : []
        const leftOut = new Set<Seq>(running.map((turn) => turn.seq))
        const isUpward = order === 'oldest-first'
        const wanted = places + leftOut.size
        const found = isUpward
          ? statements.readPlacesUpward.all(thread, before ?? 0, wanted)
          : statements.readPlaces.all(thread, before ?? Number.MAX_SAFE_INTEGER, wanted)
        const shown = found
          .map(({ seq }) => seq)
          .filter((seq) => !leftOut.has(seq))
          .slice(0, places)
        const first = Math.min(...shown)
        const records =
          shown.length === 0
            ? []
            : statements.readMessages
                .all(thread, first, Math.max(...shown))
                .filter(({ seq }) => !leftOut.has(seq))
        const inside = new Set(shown.slice(0, limit))
        const { ownerId, seq } = head
        return {
          thread: { threadId, ownerId, seq, live: running[0]?.messageId ?? null },
          ...readDetails(
            statements,
            thread,
            records.toReversed(),
            (record) => inside.has(record.seq),
            mostBytes,
          ),
        }
      })
    },

    /**
     * Events have two homes: user messages and snapshots are in `messages`, all else in `events`. What
     * the limit cuts off is not read further than its place.
     */
    async readChangeRows({ threadId, after, limit, mostBytes }) {
      return connection.read((statements) => {
        const head = statements.readThread.get(threadId)
        const thread = statements.readKey.get(threadId)?.thread
        if (head === undefined || thread === undefined) return nothing
        const { ownerId, seq } = head
        const records = statements.readBodies.all(thread, after, limit)
        const batches: BatchRow[] = []
        let events = 0
        for (const record of statements.readBatches.iterate(thread, after)) {
          batches.push(toBatchRow(statements, thread, record))
          // The reader may stand in the middle of the first.
          events += Math.min(record.size, record.seq - after)
          if (events >= limit) break
        }
        const snapshots = records.flatMap(({ role, seq: turn, messageId }) =>
          role === 'assistant' ? readCalls(statements, thread, turn, messageId, mostBytes) : [],
        )
        return {
          thread: { threadId, ownerId, seq, live: null },
          messages: records.map(toMessageRow),
          batches,
          calls: [...snapshots, ...readOutputs(statements, thread, batches, mostBytes)],
        }
      })
    },

    async readMessageRows(threadId, id, mostBytes) {
      return connection.read((statements) => {
        const thread = statements.readKey.get(threadId)?.thread
        const record = thread && statements.readMessage.get(thread, id)
        if (thread === undefined || record === undefined || record === 0) return nothing
        return { ...nothing, ...readDetails(statements, thread, [record], () => true, mostBytes) }
      })
    },

    async readTurnRows(id, mostBytes) {
      return connection.read((statements) => {
        const record = statements.findTurn.get(id)
        if (record === undefined) return nothing
        const { thread, threadId, ownerId, threadSeq: seq } = record
        return {
          thread: { threadId, ownerId, seq, live: null },
          ...readDetails(statements, thread, [record], () => true, mostBytes),
        }
      })
    },

    async readCallRows(threadId, id, mostBytes) {
      return connection.read((statements) => {
        const head = statements.readThread.get(threadId)
        const thread = statements.readKey.get(threadId)?.thread
        if (head === undefined || thread === undefined) return nothing
        const turn = statements.readCallTurn.get(thread, id)?.turn
        const places =
          turn === undefined ? statements.findRunning.all(thread).map(({ seq }) => seq) : [turn]
        const records = places.flatMap((place) => statements.readMessageAt.get(thread, place) ?? [])
        const { ownerId, seq } = head
        return {
          thread: { threadId, ownerId, seq, live: null },
          ...readDetails(statements, thread, records, () => true, mostBytes),
        }
      })
    },
  }
}

/** Messages with the events and calls of those turns that are `inside`. */
function readDetails(
  statements: LedgerStatements,
  thread: ThreadKey,
  records: readonly MessageRecord[],
  isInside: (record: MessageRecord) => boolean,
  mostBytes: number,
): Omit<LedgerRows, 'thread'> {
  const batches: BatchRow[] = []
  const calls: StoredCallRow[] = []
  for (const record of records) {
    if (record.role !== 'assistant' || !isInside(record)) continue
    const { seq: turn, messageId } = record
    calls.push(...readCalls(statements, thread, turn, messageId, mostBytes))
    // One that is all in its snapshot has no events; nobody looks for them.
    if (record.isSnapshot === 1) continue
    for (const batch of statements.readTurnBatches.all({ thread, turn })) {
      batches.push({ ...batch, turnId: messageId })
    }
  }
  return { messages: records.map(toMessageRow), batches, calls }
}

const readCalls = (
  statements: LedgerStatements,
  thread: ThreadKey,
  turn: Seq,
  turnId: MessageId,
  mostBytes: number,
): readonly StoredCallRow[] =>
  statements.readCalls.all({ most: mostBytes, thread, turn }).map((row) => ({ ...row, turnId }))

/** A call has one result and may have a thousand events: it is read once, and only if one tells of it. */
function readOutputs(
  statements: LedgerStatements,
  thread: ThreadKey,
  batches: readonly BatchRow[],
  mostBytes: number,
): readonly StoredCallRow[] {
  const ids = new Map<CallId, MessageId | null>()
  for (const batch of batches) {
    if (!/"call-(?:settled|resolved)"/.test(batch.payload)) continue
    for (const { body } of splitBatch(batch)) {
      if (!isJsonObject(body)) continue
      const tellsResult = body.type === 'call-settled' || body.type === 'call-resolved'
      if (tellsResult && typeof body.callId === 'string')
        ids.set(body.callId as CallId, batch.turnId)
    }
  }
  return [...ids].flatMap(([callId, turnId]) => {
    const row = statements.readCall.get({ most: mostBytes, thread, callId })
    return row === undefined || turnId === null ? [] : [{ ...row, turnId }]
  })
}

function toBatchRow(
  statements: LedgerStatements,
  thread: ThreadKey,
  { turn, ...batch }: BatchRecord,
): BatchRow {
  const turnId =
    turn === null ? null : (statements.readMessageId.get(thread, turn)?.messageId ?? null)
  return { ...batch, turnId }
}

const toMessageRow = (record: MessageRecord): MessageRow => ({
  id: record.messageId,
  role: record.role,
  status: record.status,
  seq: record.seq,
  bodySeq: record.bodySeq,
  commitSeq: record.commitSeq,
  at: record.createdAt,
  body: record.body,
})
