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
export interface LiveWindow {
  from: Seq
  to: Seq
  changes: StoredChange[]
  /** See `Frame`; as of `to`. */
  turn: Turn | undefined
  /** What notifications say exists. */
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
export const createLiveWindow = (): LiveWindow => ({
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

export function wakeFollowers(liveWindow: LiveWindow): void {
  const waiting = [...liveWindow.waiting]
  liveWindow.waiting.clear()
  for (const wake of waiting) wake()
}

export function nextChange(liveWindow: LiveWindow): Promise<void> {
  return new Promise((resolve) => {
    liveWindow.waiting.add(resolve)
  })
}

export function notifyLiveWindow(liveWindow: LiveWindow, known: Seq): void {
  liveWindow.known = Math.max(liveWindow.known, known)
  wakeFollowers(liveWindow)
}

/** Begins anew further on; whoever is still behind reads the database. */
export function restartLiveWindow(liveWindow: LiveWindow, at: Seq): void {
  liveWindow.from = at
  liveWindow.to = at
  liveWindow.changes = []
  liveWindow.turn = undefined
}

export function extendLiveWindow(liveWindow: LiveWindow, frame: Frame): void {
  if (frame.seq <= liveWindow.to) return
  if (frame.after !== liveWindow.to) restartLiveWindow(liveWindow, frame.after)
  liveWindow.changes.push(...frame.changes)
  liveWindow.to = frame.seq
  liveWindow.turn = frame.turn
  const over = liveWindow.changes.length - longest
  if (over > 0) liveWindow.from = (liveWindow.changes.splice(0, over).at(-1) as StoredChange).seq
  notifyLiveWindow(liveWindow, frame.seq)
}

/** Whether whoever stands at a seq finds here all that follows. */
export const covers = (liveWindow: LiveWindow, after: Seq): boolean =>
  liveWindow.to > 0 && liveWindow.from <= after && after <= liveWindow.to

export const nothing = (after: Seq): Frame => ({ after, seq: after, changes: [] })

export function sliceLiveWindow(liveWindow: LiveWindow, after: Seq): Frame {
  const start = liveWindow.changes.findIndex((change) => change.seq > after)
  const changes = start < 0 ? [] : liveWindow.changes.slice(start)
  return withDefined({ after, seq: liveWindow.to, changes }, { turn: liveWindow.turn })
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
