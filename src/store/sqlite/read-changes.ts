import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import { type OutputOf, type PackedEvent, readFact, unpack } from '../event-pack.ts'
import type { Changes, ChangesQuery, StoredChange } from '../store.ts'
import type { StoredOutput } from '../stored-output.ts'
import type { ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { mostBytes, readSealed, toUserRow } from './read-turn.ts'
import { readUserRow } from '../user-row.ts'

interface PlacedFact extends PackedEvent {
  readonly commit: Seq
}
type Place = PlacedFact | { readonly seq: Seq; readonly messageSeq: Seq }

/**
 * Facts have two homes: messages and sealed turns are in `messages`, all else in `events`. Both are
 * in order of seq and are merged; what the limit cuts off is not read further than its place.
 */
export function readChanges(statements: LedgerStatements, query: ChangesQuery): Changes | null {
  const { after, limit } = query
  const found = statements.readPlace.get(query.threadId)
  if (found === undefined) return null
  const { thread, seq } = found
  const reader = createChangeReader(statements, thread, mostBytes(query.results))
  const places: Place[] = [
    ...reader.readFacts(after, limit + 1),
    ...statements.readBodyPlaces
      .all(thread, after, limit + 1)
      .map((row) => ({ seq: row.bodySeq, messageSeq: row.seq })),
  ].sort((left, right) => left.seq - right.seq)
  const shown = places.slice(0, limit)

  return {
    seq,
    reached: shown.length < places.length ? (shown.at(-1)?.seq ?? after) : seq,
    changes: shown.flatMap((place) =>
      'messageSeq' in place ? reader.readMessage(place.messageSeq) : reader.toChange(place),
    ),
  }
}

function createChangeReader(statements: LedgerStatements, thread: ThreadKey, most: number) {
  const ids = new Map<Seq, MessageId>()
  const outputs = new Map<CallId, StoredOutput | undefined>()

  const turnIdOf = (turn: Seq): MessageId | null => {
    const id = ids.get(turn) ?? statements.readMessageId.get(thread, turn)?.messageId ?? null
    if (id !== null) ids.set(turn, id)
    return id
  }
  // A call has one result and may have a thousand facts: it is read once, and only if one needs it.
  const outputOf: OutputOf = (callId) => {
    if (!outputs.has(callId)) {
      outputs.set(callId, statements.readOutput.get({ most, thread, callId }))
    }
    return outputs.get(callId)
  }

  return {
    /** Some more than `wanted`, maybe: the last pack is read whole. */
    readFacts(after: Seq, wanted: number): readonly PlacedFact[] {
      const facts: PlacedFact[] = []
      for (const { turn, commitSeq: commit, ...pack } of statements.readPacks.iterate(
        thread,
        after,
      )) {
        const turnId = turn === null ? null : turnIdOf(turn)
        for (const fact of unpack({ ...pack, turnId })) {
          // The reader may stand in the middle of the first.
          if (fact.seq > after) facts.push({ ...fact, commit })
        }
        if (facts.length >= wanted) break
      }
      return facts
    },
    toChange({ seq, at, turnId, fact, commit }: PlacedFact): StoredChange {
      return { kind: 'event', seq, commit, event: readFact({ seq, at, turnId }, fact, outputOf) }
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
