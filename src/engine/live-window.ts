import { type Clock, systemClock } from './clock.ts'
import type { Seq } from '../core/ids.ts'
import type { ThreadPlace } from '../core/thread-place.ts'
import type { LedgerEvent } from '../core/event.ts'
import type { Turn } from '../core/message.ts'
import type { InputQueue } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { placeAfter } from '../protocol/place-text.ts'
import { markOf } from '../store/place-evidence.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'
import { type AppendResult, largestTurnBytes, type StoredChange } from '../store/store.ts'

/**
 * Consecutive changes: everything after `after`, up to and including `seq`. All who stand at the same place
 * get the same object, so that what is made of it is made once (OP7a).
 */
export interface Frame {
  readonly after: Seq
  readonly seq: Seq
  readonly changes: readonly StoredChange[]
  /** Which of the threads that have had this id they happened in; empty: not known (OP6). */
  readonly incarnation: string
  /** About how long they are as JSON. */
  readonly bytes: number
  /** The turn that they are about, with all of them, where this process has folded it already. */
  readonly turn?: Turn
  /** The inputs that wait at `seq`, where these changes may have changed them (IN2). */
  readonly queue?: InputQueue
}

/** Read from the database, which went up to `end` then. */
export interface OlderFrame extends Frame {
  readonly end: Seq
}

/** The newest changes of a thread that somebody follows or runs: everything after `from`, up to `to`. */
export interface LiveWindow {
  from: Seq
  to: Seq
  /** Each follows on the one before. */
  readonly frames: Frame[]
  /** Of all frames together. */
  changes: number
  bytes: number
  /** For those who are some frames behind, by where they stand; of this `to` alone. */
  readonly joined: Map<Seq, Frame>
  /** What was read for those who are behind `from`, by where they stand, while somebody has it. */
  readonly older: Map<Seq, WeakRef<OlderFrame>>
  readonly readingOlder: Map<Seq, Promise<OlderFrame>>
  /** What notifications say exists. */
  known: Seq
  /** How many commits of this process are under way, whose changes need not be read. */
  announced: number
  /** The place of its last change, by which it is known again; null: nothing is known of it. */
  place: ThreadPlace | null
  /** The line was down: there may be more than is known, and that place may be of a history that is no more. */
  isUncertain: boolean
  /** The thread was deleted, its history is no more, or the hub closed. */
  ended: boolean
  /** Who needs it: followers, and runs that are under way. */
  holders: number
  reading: Promise<void> | null
  readonly waiting: Set<() => void>
  /** When followers were last woken, and the timer by which they will be, if one is set. */
  lastRound: number
  cancelRound: (() => void) | null
  readonly clock: Clock
}

const mostChanges = 1_000
const mostBytes = 524_288

/**
 * A round of delivery costs 10 to 20 µs for each follower. It begins at most every ten times as long, and then
 * brings what was committed meanwhile at once: a thread that many follow takes a tenth of the process (OP7a).
 */
const pauseMsPerFollower = 0.2
const longestPauseMs = 1_000
/** Whom nobody has to wait for. */
const fewFollowers = 50

/** Empty, and at no place until the first commit or read gives it one. */
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
  liveWindow.lastRound = liveWindow.clock.now()
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
  // Never longer than the pause: a clock may be put back.
  const dueInMs = Math.min(pauseMs, liveWindow.lastRound + pauseMs - liveWindow.clock.now())
  if (dueInMs <= 0 || liveWindow.ended) wakeFollowers(liveWindow)
  else {
    liveWindow.cancelRound = liveWindow.clock.after(dueInMs, () => wakeFollowers(liveWindow))
  }
}

/** Begins anew further on; whoever is still behind reads the database. */
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
 * Somebody has read the thread to its end, and the window is at no place or behind: it begins there, so that whoever
 * comes next to that place need not read the same again.
 */
export function placeLiveWindow(
  liveWindow: LiveWindow,
  { seq, changes, incarnation }: Frame,
): void {
  if (seq <= liveWindow.to) return
  emptyLiveWindow(liveWindow, seq)
  const newest = changes.at(-1)
  liveWindow.place = newest === undefined ? null : placeAfter(newest, incarnation)
}

/** Nothing more comes; whoever follows is let go. */
export function endLiveWindow(liveWindow: LiveWindow): void {
  liveWindow.ended = true
  wakeFollowers(liveWindow)
}

export function extendLiveWindow(liveWindow: LiveWindow, frame: Frame): void {
  if (isOfOtherHistory(liveWindow, frame)) return endLiveWindow(liveWindow)
  if (frame.seq <= liveWindow.to) return
  if (frame.bytes > largestTurnBytes) {
    // Read back, it comes without its large results; held here, each follower would be sent them.
    restartLiveWindow(liveWindow, frame.seq)
    return notifyLiveWindow(liveWindow, frame.seq)
  }
  if (frame.after !== liveWindow.to) restartLiveWindow(liveWindow, frame.after)
  liveWindow.frames.push(frame)
  liveWindow.to = frame.seq
  const newest = frame.changes.at(-1)
  liveWindow.place = newest === undefined ? null : placeAfter(newest, frame.incarnation)
  liveWindow.changes += frame.changes.length
  liveWindow.bytes += frame.bytes
  liveWindow.joined.clear()
  while (liveWindow.changes > mostChanges || liveWindow.bytes > mostBytes) {
    // The newest stays, or those who are not behind would have to read it.
    if (liveWindow.frames.length === 1) break
    const { seq, changes, bytes } = liveWindow.frames.shift() as Frame
    liveWindow.from = seq
    liveWindow.changes -= changes.length
    liveWindow.bytes -= bytes
  }
  notifyLiveWindow(liveWindow, frame.seq)
}

/** A thread that was made anew, or numbers that have been given before, to other events (OP6). */
function isOfOtherHistory({ place, frames, to }: LiveWindow, frame: Frame): boolean {
  if (place === null || frame.after === 0) return false
  const isAnother = (known = '', found = '') => known !== '' && found !== '' && known !== found
  if (isAnother(place.incarnation, frame.incarnation)) return true
  const newest = frame.changes.at(-1)
  // Nearly every frame brings numbers that are new.
  if (newest === undefined || newest.seq > to) return false
  const known = frames.flatMap(({ changes }) => changes).find(({ seq }) => seq === newest.seq)
  return known !== undefined && known.kind === newest.kind && isAnother(known.mark, newest.mark)
}

/** Whether whoever stands at a seq finds here all that follows. */
export const covers = (liveWindow: LiveWindow, after: Seq): boolean =>
  liveWindow.to > 0 && liveWindow.from <= after && after <= liveWindow.to

/** Whether there is more, or may be more, than whoever stands at a seq, and the window, have. */
export const isBehind = ({ known, to, isUncertain }: LiveWindow, at: Seq): boolean =>
  isUncertain || known > Math.max(to, at)

export const nothing = (after: Seq): Frame => ({
  ...{ after, seq: after, changes: [] },
  ...{ incarnation: '', bytes: 0 },
})

/** All that follows on a seq, the same object for all who stand there. */
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
 * What follows on a place that the window has left behind: read once for all who stand there, for as long
 * as one of them has it.
 */
export function readOlderFrame(
  liveWindow: LiveWindow,
  after: Seq,
  read: () => Promise<OlderFrame>,
): Promise<OlderFrame> {
  const known = liveWindow.older.get(after)?.deref()
  if (known !== undefined) return Promise.resolve(known)
  const underWay = liveWindow.readingOlder.get(after)
  if (underWay !== undefined) return underWay
  const reading = read()
    .then((frame) => {
      for (const [place, kept] of liveWindow.older) {
        if (kept.deref() === undefined) liveWindow.older.delete(place)
      }
      // One that brings nothing new would be given again for ever.
      if (frame.seq > after) liveWindow.older.set(after, new WeakRef(frame))
      return frame
    })
    .finally(() => liveWindow.readingOlder.delete(after))
  liveWindow.readingOlder.set(after, reading)
  return reading
}

/** What one commit added, as its followers get it. */
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

/** By the rows that its events became; the state of a turn that has ended is not sent. */
function bytesOf({ batches, calls, newMessages }: PlannedCommit): number {
  let bytes = 0
  for (const { payload } of batches) bytes += payload.length
  for (const { input, output, modelOutput } of calls) {
    bytes += (input?.length ?? 0) + (output?.length ?? 0) + (modelOutput?.length ?? 0)
  }
  for (const { role, body } of newMessages) if (role !== 'assistant') bytes += body?.length ?? 0
  return bytes
}
