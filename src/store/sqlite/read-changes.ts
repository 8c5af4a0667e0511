import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import { readEventRow } from '../event-row.ts'
import type { Changes, ChangesQuery, StoredChange } from '../store.ts'
import type { StoredOutput } from '../stored-output.ts'
import type { StoredEventRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { mostBytes, noOutput, readSealed, toUserRow } from './read-turn.ts'
import { readUserRow } from '../user-row.ts'

type Place =
  | { readonly seq: Seq; readonly event: StoredEventRow }
  | { readonly seq: Seq; readonly messageSeq: Seq }

/**
 * Facts have two homes: messages and sealed turns are in `messages`, all else in `events`. Both are
 * in order of seq and are merged; what the limit cuts off is not read further than its place.
 */
export function readChanges(statements: LedgerStatements, query: ChangesQuery): Changes | null {
  const { after, limit } = query
  const found = statements.readPlace.get(query.threadId)
  if (found === undefined) return null
  const { thread, seq } = found
  const places: Place[] = [
    ...statements.readEvents
      .all(thread, after, limit + 1)
      .map((event) => ({ seq: event.seq, event })),
    ...statements.readBodyPlaces
      .all(thread, after, limit + 1)
      .map((row) => ({ seq: row.bodySeq, messageSeq: row.seq })),
  ].sort((left, right) => left.seq - right.seq)
  const shown = places.slice(0, limit)

  const reader = createChangeReader(statements, thread, mostBytes(query.results))
  return {
    seq,
    reached: shown.length < places.length ? (shown.at(-1)?.seq ?? after) : seq,
    changes: shown.flatMap((place) =>
      'event' in place ? reader.readEvent(place.event) : reader.readMessage(place.messageSeq),
    ),
  }
}

function createChangeReader(statements: LedgerStatements, thread: ThreadKey, most: number) {
  const ids = new Map<Seq, MessageId>()
  const outputs = new Map<CallId, StoredOutput>()

  const turnIdOf = (turn: Seq): MessageId | null => {
    const id = ids.get(turn) ?? statements.readMessageId.get(thread, turn)?.messageId ?? null
    if (id !== null) ids.set(turn, id)
    return id
  }
  // A call has one result and may have a thousand facts: it is read once, and only if one needs it.
  const outputOf = ({ callId, payload }: StoredEventRow): StoredOutput => {
    if (callId === null || !/"call-(?:settled|resolved)"/.test(payload)) return noOutput
    const output =
      outputs.get(callId) ?? statements.readOutput.get({ most, thread, callId }) ?? noOutput
    outputs.set(callId, output)
    return output
  }

  return {
    readEvent(row: StoredEventRow): StoredChange {
      const { seq, commitSeq: commit, turn, at, payload } = row
      const { output, outputBytes, modelOutput } = outputOf(row)
      const turnId = turn === null ? null : turnIdOf(turn)
      const event = readEventRow({ seq, at, turnId, payload, output, outputBytes, modelOutput })
      return { kind: 'event', seq, commit, event }
    },
    readMessage(messageSeq: Seq): readonly StoredChange[] {
      const row = statements.readMessageAt.get(thread, messageSeq)
      if (row === undefined || row.bodySeq === null) return []
      const { bodySeq: seq, commitSeq: commit } = row
      if (row.role !== 'assistant') {
        return [{ kind: 'event', seq, commit, event: readUserRow(toUserRow(row)) }]
      }
      const calls = statements.readCalls.all({ most, thread, turn: messageSeq })
      return [{ kind: 'turn', seq, commit, turn: readSealed(row, calls) }]
    },
  }
}
