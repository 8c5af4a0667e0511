import { isTurnEvent, type TurnEvent } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, Seq } from '../../core/ids.ts'
import type { Message, Turn } from '../../core/message.ts'
import { readPack } from '../event-pack.ts'
import { findRowless, type RowlessCalls } from '../run-memory.ts'
import { lazyBytes, type ResultMode } from '../store.ts'
import { type CallRow, readTurnBody } from '../turn-body.ts'
import type { MessageRow, PackRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { readUserRow, type UserRow } from '../user-row.ts'

/** The most bytes of an output that a read takes with it. */
export const mostBytes = (results: ResultMode): number =>
  results === 'lazy' ? lazyBytes : Number.MAX_SAFE_INTEGER

export function readMessageRow(
  statements: LedgerStatements,
  thread: ThreadKey,
  row: MessageRow,
  most: number,
): Message {
  return row.role === 'assistant'
    ? readTurn(statements, thread, row, most)
    : toUserMessage(readUserRow(toUserRow(row)))
}

/** A turn is its sealed state, if it has one, and the facts since. */
export function readTurn(
  statements: LedgerStatements,
  thread: ThreadKey,
  row: MessageRow,
  most: number,
): Turn {
  const calls = statements.readCalls.all({ most, thread, turn: row.seq })
  const sealed = readSealed(row, calls)
  if (row.isSealed === 1) return sealed
  const packs = statements.readTurnPacks.all({ thread, turn: row.seq })
  return foldTurn(sealed, readTurnPacks(row.messageId, packs, calls))
}

/** The calls of a turn that have no row, by its facts. */
export function readRowless(
  statements: LedgerStatements,
  thread: ThreadKey,
  turn: Seq,
): RowlessCalls {
  const row = statements.readMessageAt.get(thread, turn)
  if (row === undefined) return new Map()
  const calls = statements.readCalls.all({ most: -1, thread, turn })
  const packs = statements.readTurnPacks.all({ thread, turn })
  const events = readTurnPacks(row.messageId, packs, calls)
  const rows = new Set(calls.map(({ callId }) => callId))
  return findRowless(foldTurn(readSealed(row, calls), events), events, (id) => rows.has(id))
}

/** The turn as of its seal; before its first fact if it was never sealed. */
export function readSealed(row: MessageRow, calls: readonly CallRow[]): Turn {
  const { messageId: id, seq, createdAt, body, bodySeq } = row
  return body === null || bodySeq === null
    ? emptyTurn(id, seq, createdAt)
    : readTurnBody({ id, seq, bodySeq, createdAt }, body, calls)
}

export function readTurnPacks(
  turnId: MessageId,
  packs: readonly PackRow[],
  calls: readonly CallRow[],
): readonly TurnEvent[] {
  const outputs = new Map(calls.map((call) => [call.callId, call]))
  return packs
    .flatMap((pack) => readPack({ ...pack, turnId }, (callId) => outputs.get(callId)))
    .filter((event) => isTurnEvent(event))
}

export const toUserRow = ({
  messageId: id,
  seq,
  role,
  createdAt: at,
  body,
}: MessageRow): UserRow => ({
  id,
  seq,
  role,
  at,
  body,
})
