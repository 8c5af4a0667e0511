import type { CallId, Seq, ThreadId } from '../../core/ids.ts'
import { runSteps } from '../../core/pausable-work.ts'
import { resultOf, splitBatch } from '../event-batch.ts'
import {
  type BatchRow,
  type LedgerRows,
  type LedgerSource,
  type MessageRow,
  noCalls,
  noLedgerRows,
  type StoredCallRow,
  type ThreadRow,
} from '../ledger-rows.ts'
import type { StoredCall } from '../turn-snapshot.ts'
import { type PathRows, readVersionsText, type VersionPath, walkInSteps } from '../version-path.ts'
import type { AsyncConnection } from './connection.ts'
import type {
  BatchRecord,
  LedgerStatements,
  LedgerThreadRecord,
  MessageRecord,
} from './ledger-statements.ts'
import type { ThreadKey } from './prepared-statement.ts'

/** Each read is one snapshot of the file; `readPath` may be several, of one state of the thread. */
export function createSqliteSource(connection: Pick<AsyncConnection, 'read'>): LedgerSource {
  return {
    /** Two phases (PG1): first the edges of the page from an index of seqs, then the rows between them. */
    async readPageRows(query) {
      const { threadId, before, edge, order, live, limit, places, mostBytes, maxBytes } = query
      return connection.read((statements) => {
        const head = statements.readLedgerThread.get(threadId)
        if (head === undefined) return noLedgerRows
        const { thread } = head
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
        const reader = createRowReader(statements, thread, mostBytes)
        const isRead = (seq: Seq, index: number): boolean => {
          if (reader.bytes() >= maxBytes) return false
          const record = statements.readMessageAt.get(thread, seq)
          if (record !== undefined) reader.addMessage(record, index < limit)
          return true
        }
        const unread = shown.find((seq, index) => !isRead(seq, index)) ?? null
        const rows = reader.rows()
        return {
          thread: {
            ...toThreadRow(head),
            live: running[0]?.messageId ?? null,
            newest: statements.readPlaceMessage.get(thread, head.seq)?.id ?? null,
            edge: statements.readMessageId.get(thread, edge ?? 0)?.messageId ?? null,
          },
          ...rows,
          messages: isUpward ? rows.messages : rows.messages.toReversed(),
          unread,
        }
      })
    },

    /**
     * Changes are in two tables: user messages and snapshots in `messages`, all other events in `events`.
     * Both are read in the order of their seqs, and no further than the limit.
     */
    async readChangeRows({ threadId, after, limit, mostBytes, maxBytes }) {
      return connection.read((statements) => {
        const head = statements.readLedgerThread.get(threadId)
        if (head === undefined) return noLedgerRows
        const { thread } = head
        const reader = createRowReader(statements, thread, mostBytes)
        const bodies = peekable(statements.readBodies.iterate(thread, after, limit))
        const batches = peekable(statements.readBatches.iterate(thread, after))
        let unread: Seq | null = null
        for (let changes = 0; changes < limit;) {
          const body = bodies.peek()
          const batch = batches.peek()
          const bodySeq = body?.bodySeq ?? Number.POSITIVE_INFINITY
          const batchSeq = batch?.seq ?? Number.POSITIVE_INFINITY
          if (body === undefined && batch === undefined) break
          if (reader.bytes() >= maxBytes) {
            unread = Math.min(bodySeq, batchSeq - (batch?.size ?? 1) + 1)
            break
          }
          if (body !== undefined && bodySeq < batchSeq) {
            reader.addBody(body)
            bodies.advance()
            changes++
          } else if (batch !== undefined) {
            reader.addBatch(batch)
            batches.advance()
            // The reader's seq may be in the middle of the first batch.
            changes += Math.min(batch.size, batch.seq - after)
          }
        }
        bodies.close()
        batches.close()
        return {
          thread: toThreadRow(head),
          ...reader.rows(),
          unread,
        }
      })
    },

    async readMessageRows(threadId, id, mostBytes) {
      return connection.read((statements) => {
        const thread = statements.readKey.get(threadId)?.thread
        const record = thread && statements.readMessage.get(thread, id)
        if (thread === undefined || record === undefined || record === 0) return noLedgerRows
        return { ...noLedgerRows, ...readDetails(statements, thread, [record], mostBytes) }
      })
    },

    async readTurnRows(id, mostBytes) {
      return connection.read((statements) => {
        const record = statements.findTurn.get(id)
        if (record === undefined) return noLedgerRows
        const { thread, threadId, ownerId, threadSeq: seq, incarnation, queue } = record
        const { threadMark: mark } = record
        return {
          thread: toThreadRow({ threadId, ownerId, seq, incarnation, mark, queue }),
          ...readDetails(statements, thread, [record], mostBytes),
          unread: null,
        }
      })
    },

    async readCallRows(threadId, id, mostBytes) {
      return connection.read((statements) => {
        const head = statements.readLedgerThread.get(threadId)
        if (head === undefined) return noLedgerRows
        const { thread } = head
        const turn = statements.readCallTurn.get(thread, id)?.turn
        const seqs =
          turn === undefined ? statements.findRunning.all(thread).map(({ seq }) => seq) : [turn]
        const records = seqs.flatMap((seq) => statements.readMessageAt.get(thread, seq) ?? [])
        return {
          thread: toThreadRow(head),
          ...readDetails(statements, thread, records, mostBytes),
          unread: null,
        }
      })
    },

    readPath: (threadId, target) => readPath(connection, threadId, target),

    async readPlace(threadId, seq) {
      return connection.read((statements) => {
        const head = statements.readLedgerThread.get(threadId)
        if (head === undefined) return null
        const { thread, incarnation, ownerId, seq: threadSeq } = head
        const batch = statements.readPlaceBatch.get(thread, seq)
        const newest = statements.readPlaceMessage.get(thread, seq)
        const found =
          (seq === threadSeq && head) ||
          (batch !== undefined && batch.seq - batch.size < seq && batch) ||
          statements.readPlaceBody.get(thread, seq) ||
          // Of an ended turn, the row has the mark of its end, which is another commit's.
          (newest?.seq === seq && newest.bodySeq === null && newest)
        return {
          incarnation,
          ownerId,
          threadSeq,
          mark: found ? found.mark : null,
          newest: newest === undefined ? null : { id: newest.id, bodySeq: newest.bodySeq },
        }
      })
    },

    async readOutputs(threadId, ids) {
      return connection.read((statements) => {
        const outputs = new Map<CallId, StoredCall>()
        const thread = statements.readKey.get(threadId)?.thread
        if (thread === undefined) return outputs
        for (const callId of ids) {
          const row = statements.readCall.get({ most: everything, thread, callId })
          if (row !== undefined) outputs.set(callId, row)
        }
        return outputs
      })
    },
  }
}

const everything = 0x7fff_ffff

const toThreadRow = ({
  threadId,
  ownerId,
  seq,
  incarnation,
  mark,
  queue,
}: Omit<LedgerThreadRecord, 'thread'>): ThreadRow => ({
  ...{ threadId, ownerId, seq, incarnation, mark, queue },
  ...{ live: null, newest: null, edge: null },
})

/** Messages with their events and calls. */
function readDetails(
  statements: LedgerStatements,
  thread: ThreadKey,
  records: readonly MessageRecord[],
  mostBytes: number,
): Omit<LedgerRows, 'thread' | 'unread'> {
  const reader = createRowReader(statements, thread, mostBytes)
  for (const record of records) reader.addMessage(record, true)
  return reader.rows()
}

/** Collects rows in order, with the events and calls of each, and counts their bytes. */
function createRowReader(statements: LedgerStatements, thread: ThreadKey, most: number) {
  const messages: MessageRow[] = []
  const batches: BatchRow[] = []
  const calls = new Map<CallId, StoredCallRow>()
  let bytes = 0

  const addCall = (row: StoredCallRow) => {
    calls.set(row.callId, row)
    bytes += (row.input?.length ?? 0) + (row.output?.length ?? 0) + (row.modelOutput?.length ?? 0)
  }
  const addCalls = ({ seq: turn, messageId: turnId }: MessageRecord) => {
    // The turn's id comes with the row: to copy a row costs as much as to read it.
    for (const row of statements.readCalls.all({ most, thread, turn, turnId })) addCall(row)
  }
  const add = (record: MessageRecord) => {
    const row = toMessageRow(record, statements.textDecoder)
    messages.push(row)
    bytes += (row.body?.length ?? 0) + (record.versions?.length ?? 0)
  }
  return {
    bytes: () => bytes,
    rows: () => ({ messages, batches, calls: [...calls.values()] }),
    /** A message in its current state. Of one that is not `inside` the page only its seq is needed. */
    addMessage(record: MessageRecord, isInside: boolean) {
      add(record)
      if (record.role !== 'assistant' || !isInside) return
      // A turn that is complete in its snapshot has no events to read.
      const isSnapshot = record.isSnapshot === 1
      if (!isSnapshot || most !== noCalls) addCalls(record)
      if (isSnapshot) return
      const { seq: turn, messageId: turnId } = record
      for (const batch of statements.readTurnBatches.all({ thread, turn })) {
        batches.push({ ...batch, turnId })
        bytes += batch.payload.length
      }
    },
    /** A message as of its body. */
    addBody(record: MessageRecord) {
      add(record)
      if (record.role === 'assistant' && most !== noCalls) addCalls(record)
    },
    addBatch(record: BatchRecord) {
      const batch = toBatchRow(statements, thread, record)
      batches.push(batch)
      bytes += batch.payload.length
      const { turnId } = batch
      if (turnId === null || !/"call-(?:settled|resolved)"/.test(batch.payload)) return
      // A call has one result and may have a thousand events: its row is read once, and only for an event
      // with a result.
      for (const { body } of splitBatch(batch)) {
        const callId = resultOf(body)
        if (callId === null || calls.has(callId)) continue
        const row = statements.readCall.get({ most, thread, callId })
        if (row !== undefined) addCall({ ...row, turnId })
      }
    },
  }
}

/** An iterator that can look one row ahead. */
function peekable<Row>(rows: Iterable<Row>) {
  const iterator = rows[Symbol.iterator]()
  let ahead: Row | undefined
  let isOver = false
  return {
    peek(): Row | undefined {
      if (ahead !== undefined || isOver) return ahead
      const next = iterator.next()
      // In Node 24.0 calling `next` again after the last row starts the iterator again.
      if (next.done === true) isOver = true
      else ahead = next.value
      return ahead
    },
    advance() {
      ahead = undefined
    },
    close() {
      if (!isOver) iterator.return?.()
    },
  }
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

const toMessageRow = (record: MessageRecord, decoder: TextDecoder): MessageRow => ({
  id: record.messageId,
  role: record.role,
  status: record.status,
  seq: record.seq,
  bodySeq: record.bodySeq,
  commitSeq: record.commitSeq,
  mark: record.mark,
  at: record.createdAt,
  body: record.body instanceof Uint8Array ? decoder.decode(record.body) : record.body,
  versions: readVersionsText(record.versions),
})

/** So many steps are one read: each is one message, or a few dozen. */
const stepsAtOnce = 64
/** Beside a run, which commits all the time, the walk would begin again and again: the last one is one read. */
const mostWalks = 3

/** See `Store.readPath`. Either path may have thousands of messages, so others have their turn between the reads (OP7b). */
export async function readPath(
  connection: Pick<AsyncConnection, 'read'>,
  threadId: ThreadId,
  target: string,
): Promise<VersionPath | null> {
  let begun = 0
  let walk: { readonly head: LedgerThreadRecord; readonly work: Walk } | undefined
  for (;;) {
    const path = await connection.read((statements): VersionPath | null | undefined => {
      const head = statements.readLedgerThread.get(threadId)
      if (head === undefined) return null
      if (walk === undefined || !isSameState(walk.head, head)) {
        begun++
        walk = { head, work: walkInSteps(pathRows(statements, head.thread), target) }
      }
      const most = begun < mostWalks ? stepsAtOnce : Number.POSITIVE_INFINITY
      const found = runSteps(walk.work, most)
      const { ownerId, seq, incarnation } = head
      return found && { ownerId, seq, incarnation, ...found }
    })
    if (path !== undefined) return path
  }
}

type Walk = ReturnType<typeof walkInSteps>

/** Which messages are shown changes only with the thread's seq; a thread that was made again is another one. */
const isSameState = (one: LedgerThreadRecord, other: LedgerThreadRecord): boolean =>
  one.thread === other.thread && one.seq === other.seq && one.incarnation === other.incarnation

const pathRows = (statements: LedgerStatements, thread: ThreadKey): PathRows => ({
  at: (seq) => statements.readPathAt.get(thread, seq),
  byId: (id) => statements.readPathById.get(thread, id),
  lastHidden: (parent) => statements.readLastHidden.get(thread, parent),
  shownAfter: (seq, limit) => statements.readShownAfter.all(thread, seq, limit),
})
