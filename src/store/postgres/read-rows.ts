import { isTurnEvent, type TurnEvent } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import type { MessageId } from '../../core/ids.ts'
import type { Message, Turn } from '../../core/message.ts'
import { type EventPack, type OutputOf, readPack } from '../event-pack.ts'
import { lazyBytes, type ResultMode } from '../store.ts'
import { type CallRow, readTurnBody } from '../turn-body.ts'
import type {
  LedgerRow,
  MessageRow,
  StoredCallRow,
  StoredEventRow,
  ThreadRow,
} from './ledger-columns.ts'
import { readUserRow } from './user-row.ts'

/** The most bytes of an output that a read takes with it. */
export const mostBytes = (results: ResultMode): number =>
  results === 'lazy' ? lazyBytes : 0x7fff_ffff

/** What one statement read, sorted out. */
export interface LedgerRows {
  readonly thread: ThreadRow | undefined
  readonly messages: readonly MessageRow[]
  readonly events: readonly StoredEventRow[]
  readonly outputOf: OutputOf
  eventsOf(turnId: MessageId): readonly StoredEventRow[]
  callsOf(turnId: MessageId): readonly CallRow[]
}

export function groupRows(rows: readonly LedgerRow[]): LedgerRows {
  // The arms of a UNION have no order of their own.
  const ordered = rows.toSorted((left, right) => left.seq - right.seq)
  const messages = ordered.filter((row) => row.kind === 'message')
  const events = ordered.filter((row) => row.kind === 'event')
  // A call may have been read twice: with its turn, and for a fact that is about it.
  const calls = new Map(
    ordered.filter((row) => row.kind === 'call').map((row) => [row.callId, row]),
  )
  const eventsByTurn = Map.groupBy(events, (row) => row.messageId)
  const callsByTurn = Map.groupBy(calls.values(), (row) => row.messageId)
  return {
    thread: ordered.find((row) => row.kind === 'thread'),
    messages,
    events,
    outputOf: (callId) => calls.get(callId),
    eventsOf: (turnId) => eventsByTurn.get(turnId) ?? [],
    callsOf: (turnId) => (callsByTurn.get(turnId) ?? []).map(toCallRow),
  }
}

export function readMessageRow(row: MessageRow, rows: LedgerRows): Message {
  return row.role === 'assistant' ? readTurn(row, rows) : toUserMessage(readUserRow(row))
}

/** A turn is its sealed state, if it has one, and the facts since. */
export function readTurn(row: MessageRow, rows: LedgerRows): Turn {
  return foldTurn(readSealed(row, rows), readTurnEvents(rows.eventsOf(row.messageId), rows))
}

/** The turn as of its seal; before its first fact if it was never sealed. */
export function readSealed(row: MessageRow, rows: LedgerRows): Turn {
  const { messageId: id, seq, at: createdAt, content, bodySeq } = row
  return content === null || bodySeq === null
    ? emptyTurn(id, seq, createdAt)
    : readTurnBody({ id, seq, bodySeq, createdAt }, content, rows.callsOf(id))
}

export function readTurnEvents(
  packs: readonly StoredEventRow[],
  { outputOf }: LedgerRows,
): readonly TurnEvent[] {
  return packs
    .flatMap((row) => readPack(toPack(row), outputOf))
    .filter((event) => isTurnEvent(event))
}

export const toPack = ({
  seq,
  size,
  messageId: turnId,
  at,
  content: payload,
}: StoredEventRow): EventPack => ({ seq, size, turnId, at, payload })

const toCallRow = (row: StoredCallRow): CallRow => ({
  callId: row.callId,
  name: row.name,
  life: row.state,
  input: row.content,
  output: row.output,
  outputBytes: row.outputBytes,
  modelOutput: row.modelOutput,
})
