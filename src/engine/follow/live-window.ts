import { type Clock, elapsedMs, systemClock } from '../clock.ts'
import type { Seq } from '../../core/ids.ts'
import { isAnother, type ThreadPlace } from '../../core/thread-place.ts'
import type { LedgerEvent } from '../../core/event.ts'
import type { Turn } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import { placeAfter } from '../../protocol/place-text.ts'
import { markOf } from '../../store/place-evidence.ts'
import type { PlannedCommit } from '../../store/plan-commit.ts'
import { type AppendResult, largestTurnBytes, type StoredChange } from '../../store/store.ts'

/**
 * Consecutive changes: everything after `after`, up to and including `seq`. All followers at the same seq get the same
 * object, so that it is encoded once (OP7a).
 */
export interface Frame {
  readonly after: Seq
  readonly seq: Seq
  readonly changes: readonly StoredChange[]
  /** Which of the threads that have had this id the changes belong to; empty: not known (OP6). */
  readonly incarnation: string
  /** About how long the changes are as JSON. */
  readonly bytes: number
  /**
   * The turn that the changes belong to, after all of them, where this process has folded it already. Only the newest frame
   * of a window has one: each is the whole turn, and a thousand of them would be as many copies of a growing text (OP7a).
   */
  readonly turn?: Turn
  /** The queued inputs at `seq`, where these changes may have changed them (IN2). */
  readonly queue?: InputQueue
}

/** Read from the database, whose last seq was `end` at that time. */
export interface OlderFrame extends Frame {
  readonly end: Seq
}

/** The newest changes of a thread that is followed or run in this process: everything after `from`, up to `to`. */
export interface LiveWindow {
  from: Seq
  to: Seq
  /** Each one begins where the one before ends. */
  readonly frames: Frame[]
  /** Totals of all frames. */
  changes: number
  bytes: number
  /** Joined frames for followers that are some frames behind, by their seq; valid for the current `to` only. */
  readonly joined: Map<Seq, Frame>
  /** What was read for followers that are behind `from`, by their seq, for as long as one of them uses it. */
  readonly older: Map<Seq, WeakRef<OlderFrame>>
  readonly readingOlder: Map<Seq, Promise<OlderFrame>>
  /** The newest seq that a notification has announced. */
  known: Seq
  /** The number of commits of this process in flight, whose changes need not be read. */
  announced: number
  /** The place of the last change, which identifies the history; null: unknown. */
  place: ThreadPlace | null
  /** Which of the threads that have had this id the window belongs to; empty: unknown (OP6). */
  incarnation: string
  /**
   * The notify listener was disconnected: there may be changes beyond `known`, and `place` may belong to a history that
   * no longer exists.
   */
  isUncertain: boolean
  /** The thread was deleted, its history was replaced, or the hub was closed. */
  ended: boolean
  /** The number of users: followers, and live runs. */
  holders: number
  reading: Promise<void> | null
  readonly waiting: Set<() => void>
  /** When followers were last woken, and the timer that wakes them next, if one is set. */
  lastRound: number
  cancelRound: (() => void) | null
  readonly clock: Clock
}

const mostChanges = 1_000
const mostBytes = 524_288

/**
 * One round of delivery costs 10 to 20 µs for each follower. Rounds begin at intervals of at least ten times their
 * cost, and then deliver everything committed meanwhile: a thread with many followers uses a tenth of the process
 * (OP7a).
 */
const pauseMsPerFollower = 0.2
const longestPauseMs = 1_000
/** With no more followers than this, no pause is needed. */
const fewFollowers = 50

/** Empty, and without a position until the first commit or read sets one. */
export const createLiveWindow = (clock: Clock = systemClock): LiveWindow => ({
  from: 0,
  to: 0,
  frames: [],
  changes: 0,
  bytes: 0,
  joined: new Map(),
  older: new Map(),
  readingOlder: new Map(),
  known: 0,
  announced: 0,
  place: null,
  incarnation: '',
  isUncertain: false,
  ended: false,
  holders: 0,
  reading: null,
  waiting: new Set(),
  lastRound: 0,
  cancelRound: null,
  clock,
})

export function wakeFollowers(liveWindow: LiveWindow): void {
  liveWindow.cancelRound?.()
  liveWindow.cancelRound = null
  liveWindow.lastRound = elapsedMs(liveWindow.clock)
  const waiting = [...liveWindow.waiting]
  liveWindow.waiting.clear()
  for (const wake of waiting) wake()
}

/** Resolves with the next change, or when the signal aborts. */
export function nextChange(liveWindow: LiveWindow, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      signal.removeEventListener('abort', wake)
      liveWindow.waiting.delete(wake)
      resolve()
    }
    liveWindow.waiting.add(wake)
    signal.addEventListener('abort', wake)
  })
}

export function notifyLiveWindow(liveWindow: LiveWindow, known: Seq): void {
  liveWindow.known = Math.max(liveWindow.known, known)
  if (liveWindow.cancelRound !== null && !liveWindow.ended) return
  const { size } = liveWindow.waiting
  const pauseMs = size <= fewFollowers ? 0 : Math.min(size * pauseMsPerFollower, longestPauseMs)
  // Never longer than the pause: a clock of the host's without `elapsed` may have been set back.
  const dueInMs = Math.min(pauseMs, liveWindow.lastRound + pauseMs - elapsedMs(liveWindow.clock))
  if (dueInMs <= 0 || liveWindow.ended) wakeFollowers(liveWindow)
  else {
    liveWindow.cancelRound = liveWindow.clock.after(dueInMs, () => wakeFollowers(liveWindow))
  }
}

/** Restarts the window at a later seq; followers that are behind it read the database. */
export function restartLiveWindow(liveWindow: LiveWindow, at: Seq): void {
  emptyLiveWindow(liveWindow, at)
  liveWindow.older.clear()
}

function emptyLiveWindow(liveWindow: LiveWindow, at: Seq): void {
  liveWindow.from = at
  liveWindow.to = at
  liveWindow.frames.length = 0
  liveWindow.changes = 0
  liveWindow.bytes = 0
  liveWindow.joined.clear()
  liveWindow.place = null
}

/**
 * Called when a follower has read the thread to its end, and the window has no position or is behind: the window begins
 * there, so that the next follower at that seq need not read the same again.
 */
export function placeLiveWindow(
  liveWindow: LiveWindow,
  { seq, changes, incarnation }: Frame,
): void {
  // A read that took long may be of a thread that was deleted since.
  if (seq <= liveWindow.to || isAnother(liveWindow.incarnation, incarnation)) return
  emptyLiveWindow(liveWindow, seq)
  liveWindow.incarnation = incarnation
  const newest = changes.at(-1)
  liveWindow.place = newest === undefined ? null : placeAfter(newest, incarnation)
}

/** No more changes will come; the followers' streams end. */
export function endLiveWindow(liveWindow: LiveWindow): void {
  liveWindow.ended = true
  wakeFollowers(liveWindow)
}

export function extendLiveWindow(liveWindow: LiveWindow, frame: Frame): void {
  if (isOfOtherHistory(liveWindow, frame)) return endLiveWindow(liveWindow)
  if (frame.seq <= liveWindow.to) return
  liveWindow.incarnation = frame.incarnation
  if (frame.bytes > largestTurnBytes) {
    // Read from the database, the frame comes without its large results; from the window, each follower would be sent
    // them.
    restartLiveWindow(liveWindow, frame.seq)
    return notifyLiveWindow(liveWindow, frame.seq)
  }
  if (frame.after !== liveWindow.to) restartLiveWindow(liveWindow, frame.after)
  const before = liveWindow.frames.pop()
  if (before !== undefined) liveWindow.frames.push(withoutTurn(before))
  liveWindow.frames.push(frame)
  liveWindow.to = frame.seq
  const newest = frame.changes.at(-1)
  liveWindow.place = newest === undefined ? null : placeAfter(newest, frame.incarnation)
  liveWindow.changes += frame.changes.length
  liveWindow.bytes += frame.bytes
  liveWindow.joined.clear()
  while (liveWindow.changes > mostChanges || liveWindow.bytes > mostBytes) {
    // The newest frame stays, or followers that are up to date would have to read it.
    if (liveWindow.frames.length === 1) break
    const { seq, changes, bytes } = liveWindow.frames.shift() as Frame
    liveWindow.from = seq
    liveWindow.changes -= changes.length
    liveWindow.bytes -= bytes
  }
  notifyLiveWindow(liveWindow, frame.seq)
}

/** Another object: whatever is kept for the frame with its turn, as in `sharedMoves`, goes with it. */
const withoutTurn = ({ turn: _, ...frame }: Frame): Frame => frame

/**
 * The frame belongs to a thread that was created again, or to a history that assigned the same seqs to other events
 * (OP6).
 */
function isOfOtherHistory({ incarnation, frames, to }: LiveWindow, frame: Frame): boolean {
  if (frame.after === 0) return false
  if (isAnother(incarnation, frame.incarnation)) return true
  const newest = frame.changes.at(-1)
  // Nearly every frame has new seqs only.
  if (newest === undefined || newest.seq > to) return false
  const known = frames.flatMap(({ changes }) => changes).find(({ seq }) => seq === newest.seq)
  return (
    known !== undefined &&
    known.kind === newest.kind &&
    isAnother(known.mark ?? '', newest.mark ?? '')
  )
}

/** Whether the window contains all changes after a seq. */
export const covers = (liveWindow: LiveWindow, after: Seq): boolean =>
  liveWindow.to > 0 && liveWindow.from <= after && after <= liveWindow.to

/** Whether there are, or may be, changes that neither the follower at a seq nor the window has. */
export const isBehind = ({ known, to, isUncertain }: LiveWindow, at: Seq): boolean =>
  isUncertain || known > Math.max(to, at)

/** No change after a seq that the window covers. */
export const nothing = ({ incarnation }: LiveWindow, after: Seq): Frame => ({
  ...{ after, seq: after, changes: [], incarnation, bytes: 0 },
})

/** All changes after a seq, the same object for all followers at that seq. */
export function sliceLiveWindow(liveWindow: LiveWindow, after: Seq): Frame {
  const last = liveWindow.frames.at(-1)
  if (last?.after === after) return last
  const known = liveWindow.joined.get(after)
  if (known !== undefined) return known
  const frames = liveWindow.frames.filter(({ seq }) => seq > after)
  const changes = frames.flatMap((frame) => frame.changes).filter(({ seq }) => seq > after)
  const bytes = frames.reduce((sum, frame) => sum + frame.bytes, 0)
  const incarnation = last?.incarnation ?? ''
  const joined = withDefined(
    { after, seq: liveWindow.to, changes, incarnation, bytes },
    { turn: last?.turn, queue: frames.findLast(({ queue }) => queue !== undefined)?.queue },
  )
  liveWindow.joined.set(after, joined)
  return joined
}

/**
 * The changes after a seq that is behind the window: read once for all followers at that seq, for as long as one of
 * them uses the result.
 */
export function readOlderFrame(
  liveWindow: LiveWindow,
  after: Seq,
  read: () => Promise<OlderFrame>,
): Promise<OlderFrame> {
  const known = liveWindow.older.get(after)?.deref()
  if (known !== undefined) return Promise.resolve(known)
  const inFlight = liveWindow.readingOlder.get(after)
  if (inFlight !== undefined) return inFlight
  const reading = read()
    .then((frame) => {
      for (const [place, kept] of liveWindow.older) {
        if (kept.deref() === undefined) liveWindow.older.delete(place)
      }
      // A frame without progress must not be kept, or it would be returned for ever.
      if (frame.seq > after) liveWindow.older.set(after, new WeakRef(frame))
      return frame
    })
    .finally(() => liveWindow.readingOlder.delete(after))
  liveWindow.readingOlder.set(after, reading)
  return reading
}

/** The events of one commit, as its followers get them. */
export function toFrame(
  events: readonly LedgerEvent[],
  { firstSeq, seq, incarnation = '' }: Extract<AppendResult, { readonly kind: 'appended' }>,
  planned: PlannedCommit,
  turn?: Turn,
): Frame {
  const mark = markOf(planned)
  const changes = events.map(
    (event) => ({ kind: 'event', seq: event.seq, commit: seq, mark, event }) as const,
  )
  const bytes = bytesOf(planned)
  const { queue } = planned
  return withDefined(
    { after: firstSeq - 1, seq, changes, incarnation, bytes },
    { turn, queue: queue ?? undefined },
  )
}

/** Measured by the rows that its events became; the snapshot of a turn that has ended is not sent. */
function bytesOf({ batches, calls, newMessages }: PlannedCommit): number {
  let bytes = 0
  for (const { payload } of batches) bytes += payload.length
  for (const { input, output, modelOutput } of calls) {
    bytes += (input?.length ?? 0) + (output?.length ?? 0) + (modelOutput?.length ?? 0)
  }
  for (const { role, body } of newMessages) if (role !== 'assistant') bytes += body?.length ?? 0
  return bytes
}
