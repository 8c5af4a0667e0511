import type { Seq } from '../core/ids.ts'
import type { LedgerEvent } from '../core/event.ts'
import type { Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { AppendResult, StoredChange } from '../store/store.ts'

/** Consecutive changes: everything after `after`, up to and including `seq`. */
export interface Frame {
  readonly after: Seq
  readonly seq: Seq
  readonly changes: readonly StoredChange[]
  /** The turn that they are about, with all of them, where this process has folded it already. */
  readonly turn?: Turn
}

/** The newest changes of a thread that somebody follows or runs: everything after `from`, up to `to`. */
export interface Tail {
  from: Seq
  to: Seq
  changes: StoredChange[]
  /** See `Frame`; as of `to`. */
  turn: Turn | undefined
  /** What hints say exists. */
  known: Seq
  /** How many commits of this process are under way, whose changes need not be read. */
  announced: number
  /** The thread was deleted, or the hub closed. */
  ended: boolean
  /** Who needs it: followers, and runs that are under way. */
  holders: number
  reading: Promise<void> | null
  readonly waiting: Set<() => void>
}

const longest = 1_000

/** Empty, and at no place until the first commit or read gives it one. */
export const createTail = (): Tail => ({
  from: 0,
  to: 0,
  changes: [],
  turn: undefined,
  known: 0,
  announced: 0,
  ended: false,
  holders: 0,
  reading: null,
  waiting: new Set(),
})

export function wakeTail(tail: Tail): void {
  const waiting = [...tail.waiting]
  tail.waiting.clear()
  for (const wake of waiting) wake()
}

export function nextWake(tail: Tail): Promise<void> {
  return new Promise((resolve) => {
    tail.waiting.add(resolve)
  })
}

export function hintTail(tail: Tail, known: Seq): void {
  tail.known = Math.max(tail.known, known)
  wakeTail(tail)
}

/** Begins anew further on; whoever is still behind reads the database. */
export function restartTail(tail: Tail, at: Seq): void {
  tail.from = at
  tail.to = at
  tail.changes = []
  tail.turn = undefined
}

export function extendTail(tail: Tail, frame: Frame): void {
  if (frame.seq <= tail.to) return
  if (frame.after !== tail.to) restartTail(tail, frame.after)
  tail.changes.push(...frame.changes)
  tail.to = frame.seq
  tail.turn = frame.turn
  const over = tail.changes.length - longest
  if (over > 0) tail.from = (tail.changes.splice(0, over).at(-1) as StoredChange).seq
  hintTail(tail, frame.seq)
}

/** Whether whoever stands at a seq finds here all that follows. */
export const covers = (tail: Tail, after: Seq): boolean =>
  tail.to > 0 && tail.from <= after && after <= tail.to

export const nothing = (after: Seq): Frame => ({ after, seq: after, changes: [] })

export function sliceTail(tail: Tail, after: Seq): Frame {
  const start = tail.changes.findIndex((change) => change.seq > after)
  const changes = start < 0 ? [] : tail.changes.slice(start)
  return withDefined({ after, seq: tail.to, changes }, { turn: tail.turn })
}

/** What one commit added, as its followers get it. */
export function toFrame(
  events: readonly LedgerEvent[],
  { firstSeq, seq }: Extract<AppendResult, { readonly kind: 'appended' }>,
  turn?: Turn,
): Frame {
  const changes = events.map(
    (event) => ({ kind: 'event', seq: event.seq, commit: seq, event }) as const,
  )
  return withDefined({ after: firstSeq - 1, seq, changes }, { turn })
}
