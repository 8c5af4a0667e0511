import type { LedgerEvent } from '../../core/event.ts'
import { isTurnEvent } from '../../core/event.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import { type CallLifecycle, lifecycleOf } from '../../core/lifecycle.ts'
import { callsOf, type Message, type Turn, type UserMessage } from '../../core/message.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import { type MessageVersion, withVersions } from '../../core/versions.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { ThreadHead } from '../lease.ts'
import type { PlaceEvidence } from '../place-evidence.ts'
import type { StoredChange } from '../store.ts'

/** A message or a turn at its seq. A turn is its snapshot, if it has one, and the events since. */
export type MemoryMessage = {
  readonly seq: Seq
  readonly commit: Seq
  readonly mark: string
  readonly id: MessageId
  retiredSeq: Seq | null
  /** See `PathRow`. */
  parentSeq: Seq | null
  versions: readonly MessageVersion[] | null
} & ({ readonly user: UserMessage } | { snapshot: TurnSnapshot | null; readonly createdAt: number })

export interface TurnSnapshot {
  readonly turn: Turn
  /** The last seq of the commit that ended it. */
  readonly commit: Seq
  readonly mark: string
}

interface MemoryEvent {
  readonly event: LedgerEvent
  readonly commit: Seq
  readonly mark: string
}

/** Everything that is stored of one thread. */
export interface MemoryThread {
  thread: ThreadRecord
  messages: MemoryMessage[]
  /** Events of turns that have not ended and of the thread itself, by seq. */
  events: MemoryEvent[]
  head: ThreadHead
  /** See `PlannedInput`: the turn of each, by its id. */
  inputs: Map<MessageId, MessageId | null>
  /** The mark of its newest commit. */
  mark: string
}

export function readMemoryMessage(stored: MemoryThread, entry: MemoryMessage): Message {
  if ('user' in entry) return withVersions(entry.user, entry.versions)
  const events = stored.events.flatMap(({ event }) =>
    isTurnEvent(event) && event.turnId === entry.id ? [event] : [],
  )
  const turn = entry.snapshot?.turn ?? emptyTurn(entry.id, entry.seq, entry.createdAt)
  return withVersions(foldTurn(turn, events), entry.versions)
}

export function readMemoryTurn(stored: MemoryThread, id: MessageId): Turn | null {
  const entry = stored.messages.find((message) => message.id === id)
  if (entry === undefined || 'user' in entry) return null
  return readMemoryMessage(stored, entry) as Turn
}

/** The state of each call of the thread, and its turn. */
export function readMemoryCalls(
  stored: MemoryThread,
): ReadonlyMap<CallId, { readonly lifecycle: CallLifecycle; readonly turnId: MessageId }> {
  const calls = new Map<CallId, { lifecycle: CallLifecycle; turnId: MessageId }>()
  for (const entry of stored.messages) {
    if ('user' in entry) continue
    for (const call of callsOf(readMemoryMessage(stored, entry) as Turn)) {
      calls.set(call.id, { lifecycle: lifecycleOf(call), turnId: entry.id })
    }
  }
  return calls
}

/** Everything after a seq, in order: ended turns as one state, the rest as events. */
export function readMemoryChanges(stored: MemoryThread, after: Seq): readonly StoredChange[] {
  const changes: StoredChange[] = []
  for (const { event, commit, mark } of stored.events) {
    if (event.seq > after) changes.push({ kind: 'event', seq: event.seq, commit, mark, event })
  }
  for (const entry of stored.messages) {
    if ('user' in entry) {
      if (entry.seq <= after) continue
      const { role, id: messageId, createdAt: at, seq, versions, ...rest } = entry.user
      const versionOf = versions?.slice(0, -1)
      const event = withDefined(
        { type: 'message-added', messageId, role, at, seq, ...rest } as const,
        { versionOf },
      )
      changes.push({ kind: 'event', seq, commit: entry.commit, mark: entry.mark, event })
    } else if (entry.snapshot !== null && entry.snapshot.turn.lastSeq > after) {
      const { turn, commit, mark } = entry.snapshot
      const { lastSeq: seq } = turn
      // The turn was retired before it ended: sending its state would show it again.
      if (entry.retiredSeq !== null && entry.retiredSeq < seq) continue
      changes.push({ kind: 'turn', seq, commit, mark, turn: withVersions(turn, entry.versions) })
    }
  }
  return changes.sort((left, right) => left.seq - right.seq)
}

/** See `Store.readPlace`. */
export function readMemoryPlace(stored: MemoryThread, at: Seq): PlaceEvidence {
  const { head, messages, events } = stored
  const newest = messages.findLast(({ seq }) => seq <= at)
  const ending = messages.map(snapshotOf).find((snapshot) => snapshot?.turn.lastSeq === at)
  const own = newest?.seq === at ? newest.mark : undefined
  const found = events.find(({ event }) => event.seq === at) ?? ending
  return {
    incarnation: head.incarnation,
    ownerId: head.ownerId,
    threadSeq: head.seq,
    mark: at === head.seq ? stored.mark : (found?.mark ?? own ?? null),
    newest:
      newest === undefined
        ? null
        : { id: newest.id, bodySeq: snapshotOf(newest)?.turn.lastSeq ?? null },
  }
}

const snapshotOf = (entry: MemoryMessage): TurnSnapshot | null =>
  'user' in entry ? null : entry.snapshot
