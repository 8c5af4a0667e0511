import { setImmediate } from 'node:timers/promises'
import { isTurnEvent, type TurnEvent } from '../core/event.ts'
import { toUserMessage } from '../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { fingerprint } from '../core/fingerprint.ts'
import type { CallId, MessageId, Seq, ThreadId } from '../core/ids.ts'
import { callsOf, type Message, type Turn } from '../core/message.ts'
import { mapInSteps } from '../core/pausable-work.ts'
import { parseQueue } from '../core/queue.ts'
import { withVersions } from '../core/versions.ts'
import { decodeBatch, decodeEvent, resultOf, splitBatch } from './event-batch.ts'
import {
  fitBytes,
  isOmitted,
  type LargeOutputs,
  largeOutputs,
  type Measured,
  measureCalls,
  readOutputs,
} from './large-outputs.ts'
import {
  type BatchRow,
  type LedgerRows,
  type LedgerSource,
  type MessageRow,
  noCalls,
  type StoredCallRow,
} from './ledger-rows.ts'
import { createPacer, runPaced } from './pacer.ts'
import {
  type Changes,
  type ChangesQuery,
  type FoundCall,
  type FoundTurn,
  lazyBytes,
  type Page,
  type PageQuery,
  type ResultMode,
  type Store,
  type StoredChange,
} from './store.ts'
import { type StoredCall, readSnapshot } from './turn-snapshot.ts'
import { readUserRow } from './user-row.ts'

/** The verbs of a store that read the content of threads. */
export type LedgerReader = Required<
  Pick<
    Store,
    'readPage' | 'readChanges' | 'readPlace' | 'readPath' | 'readMessage' | 'findTurn' | 'readCall'
  >
>

const everything = 0x7fff_ffff

/** The reads of the content of threads, the same for every database. */
export function createLedgerReader(source: LedgerSource): LedgerReader {
  const fill = async (
    threadId: ThreadId,
    rows: IndexedRows,
    ids: readonly CallId[],
  ): Promise<IndexedRows> =>
    ids.length === 0
      ? rows
      : indexRows(withOutputs(rows, await readOutputs(threadId, ids, rows, source)))

  /** One turn by itself: complete, or without its large results, depending on `results`. */
  const fillTurn = async (
    threadId: ThreadId,
    rows: IndexedRows,
    results: ResultMode,
    isWanted: (id: CallId) => boolean = () => false,
  ): Promise<IndexedRows> => {
    const ids = rows.messages.flatMap((row) => largeOutputs(measureMessage(row, rows), results))
    const wanted = rows.calls.filter(({ callId }) => isWanted(callId)).filter(isOmitted)
    return fill(threadId, rows, [...new Set([...ids, ...wanted.map(({ callId }) => callId)])])
  }
  const mostAtFirst = (results: ResultMode, isCut = false): number => {
    if (results === 'none') return noCalls
    return results === 'full' && !isCut ? everything : lazyBytes
  }

  return {
    async readPage(query: PageQuery): Promise<Page | null> {
      const { threadId, limit, results, order = 'newest-first', maxBytes = everything } = query
      // One more than is returned: the page has `hasMore` only if another message follows (PG1).
      const places = limit + 1
      const mostBytes = mostAtFirst(results, query.maxBytes !== undefined)
      const rows = indexRows(
        await source.readPageRows({ ...query, order, places, mostBytes, maxBytes }),
        results,
      )
      if (rows.thread === undefined) return null
      await pauseAfter(rows)
      const shown = order === 'newest-first' ? rows.messages.toReversed() : rows.messages
      const inside = shown.slice(0, limit)
      const sizes = inside.map((row) => measureMessage(row, rows))
      const { count, ids, bytes } = fitBytes(sizes, results, maxBytes)
      const filled = await fill(threadId, rows, ids)
      const { ownerId, seq, live, incarnation, mark, newest, edge, queue } = rows.thread
      const messages = await readEach(inside.slice(0, count), (row) => readMessageRow(row, filled))
      return {
        ownerId,
        seq,
        place: { seq, incarnation, mark, subject: newest === null ? '' : fingerprint(newest) },
        edge,
        messages,
        hasMore: shown.length > count || rows.unread !== null,
        live,
        queue: parseQueue(queue),
        ...(query.maxBytes === undefined ? {} : { bytes }),
      }
    },

    async readChanges(query: ChangesQuery): Promise<Changes | null> {
      const { threadId, after, limit, results, maxBytes = everything } = query
      const mostBytes = mostAtFirst(results, query.maxBytes !== undefined)
      const rows = indexRows(
        await source.readChangeRows({ ...query, limit: limit + 1, mostBytes, maxBytes }),
        results,
      )
      if (rows.thread === undefined) return null
      await pauseAfter(rows)
      const { unread } = rows
      const all = [
        ...rows.batches.flatMap((batch) => listEvents(batch)).filter(({ seq }) => seq > after),
        ...rows.messages.map(toBodyChange),
      ]
        .filter(({ seq }) => unread === null || seq < unread)
        .sort((left, right) => left.seq - right.seq)
      const within = all.slice(0, limit)
      const sizes = within.map((change) => change.measure(rows))
      const { count, ids } = fitBytes(sizes, results, maxBytes)
      const shown = within.slice(0, count)
      const filled = await fill(threadId, rows, ids)
      const { seq, incarnation, queue } = rows.thread
      const changes = await readEach(shown, (change) => change.read(filled))
      const isCut = shown.length < all.length || unread !== null
      return {
        seq,
        reached: isCut ? (shown.at(-1)?.seq ?? after) : seq,
        changes,
        incarnation,
        queue: parseQueue(queue),
      }
    },

    readPlace: (threadId: ThreadId, seq: Seq) => source.readPlace(threadId, seq),

    readPath: (threadId: ThreadId, target: string) => source.readPath(threadId, target),

    async readMessage(
      threadId: ThreadId,
      messageId: MessageId,
      results: ResultMode = 'full',
    ): Promise<Message | null> {
      const read = await source.readMessageRows(threadId, messageId, mostAtFirst(results))
      const rows = await fillTurn(threadId, indexRows(read, results), results)
      const [row] = rows.messages
      return row === undefined ? null : readMessageRow(row, rows)
    },

    async findTurn(messageId: MessageId, results: ResultMode = 'full'): Promise<FoundTurn | null> {
      const read = indexRows(await source.readTurnRows(messageId, mostAtFirst(results)), results)
      const [row] = read.messages
      if (row === undefined || read.thread === undefined) return null
      const { threadId, ownerId, seq, incarnation } = read.thread
      const queue = parseQueue(read.thread.queue)
      const rows = await fillTurn(threadId, read, results)
      return { threadId, ownerId, seq, incarnation, queue, turn: foldTurnRows(row, rows) }
    },

    async readCall(
      threadId: ThreadId,
      callId: CallId,
      results: ResultMode = 'full',
    ): Promise<FoundCall | null> {
      const read = indexRows(
        await source.readCallRows(threadId, callId, mostAtFirst(results)),
        results,
      )
      if (read.thread === undefined) return null
      const rows = await fillTurn(threadId, read, results, (id) => id === callId)
      const { ownerId, seq, incarnation } = read.thread
      const queue = parseQueue(read.thread.queue)
      const head = { threadId, ownerId, seq, incarnation, queue }
      for (const row of rows.messages) {
        const turn = foldTurnRows(row, rows)
        for (const call of callsOf(turn)) {
          if (call.id === callId) return { ...head, turn, call }
        }
      }
      return null
    },
  }
}

const longBody = 1_000_000

/** A body of megabytes takes as long to parse as to read: others have their turn between the two (OP7). */
async function pauseAfter({ messages }: LedgerRows): Promise<void> {
  if (messages.some(({ body }) => body !== null && body.length > longBody)) await setImmediate()
}

/** With pauses: a page of some megabytes may have a million values in it (OP7). */
const readEach = <Row, Result>(
  rows: readonly Row[],
  read: (row: Row) => Result,
): Promise<readonly Result[]> => runPaced(mapInSteps(rows, read), createPacer())

function measureMessage(row: MessageRow, rows: IndexedRows): Measured {
  const calls = row.role === 'assistant' ? rows.callsOf(row.id) : []
  const batches = row.role === 'assistant' ? rows.batchesOf(row.id) : []
  const own = batches.reduce((sum, { payload }) => sum + payload.length, row.body?.length ?? 0)
  return measureCalls(own, calls)
}

/** A result that was deleted meanwhile stays omitted. */
const withOutputs = (rows: LedgerRows, outputs: LargeOutputs): LedgerRows => ({
  ...rows,
  calls: rows.calls.map((row) => ({ ...row, ...outputs.get(row.callId) })),
})

interface IndexedRows extends LedgerRows {
  outputOf(this: void, callId: CallId): StoredCallRow | undefined
  batchesOf(turnId: MessageId): readonly BatchRow[]
  callsOf(turnId: MessageId): readonly StoredCallRow[]
  /** The calls that a snapshot is completed with; null: they were not read. */
  snapshotCallsOf(turnId: MessageId): readonly StoredCallRow[] | null
}

function indexRows(rows: LedgerRows, results: ResultMode = 'full'): IndexedRows {
  const calls = new Map(rows.calls.map((row) => [row.callId, row]))
  const batchesByTurn = Map.groupBy(rows.batches, (row) => row.turnId)
  const callsByTurn = Map.groupBy(calls.values(), (row) => row.turnId)
  return {
    ...rows,
    outputOf: (callId) => calls.get(callId),
    batchesOf: (turnId) => batchesByTurn.get(turnId) ?? [],
    callsOf: (turnId) => callsByTurn.get(turnId) ?? [],
    snapshotCallsOf: (turnId) => (results === 'none' ? null : (callsByTurn.get(turnId) ?? [])),
  }
}

function readMessageRow(row: MessageRow, rows: IndexedRows): Message {
  return row.role === 'assistant'
    ? foldTurnRows(row, rows)
    : withVersions(toUserMessage(readUserRow(row)), row.versions)
}

/** A turn is its snapshot, if it has one, and the events since. */
function foldTurnRows(row: MessageRow, rows: IndexedRows): Turn {
  const events = rows
    .batchesOf(row.id)
    .flatMap((batch) => decodeBatch(batch, rows.outputOf))
    .filter((event): event is TurnEvent => isTurnEvent(event))
  return withVersions(
    foldTurn(readStoredSnapshot(row, rows.snapshotCallsOf(row.id)), events),
    row.versions,
  )
}

/** The turn as of its snapshot; empty, before its first event, if it has none. */
function readStoredSnapshot(row: MessageRow, calls: readonly StoredCall[] | null): Turn {
  const { id, seq, at: createdAt, body, bodySeq, versions } = row
  return body === null || bodySeq === null
    ? emptyTurn(id, seq, createdAt)
    : withVersions(readSnapshot({ id, seq, bodySeq, createdAt }, body, calls), versions)
}

/** A change that is decoded only if it is returned. */
interface ListedChange {
  readonly seq: Seq
  measure(rows: IndexedRows): Measured
  read(rows: IndexedRows): StoredChange
}

const listEvents = (batch: BatchRow): readonly ListedChange[] =>
  splitBatch(batch).map(({ seq, at, turnId, line, body }) => ({
    seq,
    measure(rows) {
      const callId = resultOf(body)
      const call = callId === null ? undefined : rows.outputOf(callId)
      return measureCalls(line.length, call === undefined ? [] : [call])
    },
    read: (rows) => ({
      kind: 'event',
      seq,
      commit: batch.commitSeq,
      mark: batch.mark,
      event: decodeEvent({ seq, at, turnId }, body, rows.outputOf),
    }),
  }))

/** A message that was added, or a turn that has ended. */
function toBodyChange(row: MessageRow): ListedChange {
  const { commitSeq: commit, mark } = row
  const seq = row.bodySeq ?? row.seq
  return {
    seq,
    measure: (rows) => measureMessage(row, rows),
    read: (rows) =>
      row.role === 'assistant'
        ? {
            kind: 'turn',
            seq,
            commit,
            mark,
            turn: readStoredSnapshot(row, rows.snapshotCallsOf(row.id)),
          }
        : { kind: 'event', seq, commit, mark, event: readUserRow(row) },
  }
}
