import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import { canChangeQueue } from '../core/queue.ts'
import { jsonLength } from '../store/omit-large-outputs.ts'
import { isOtherHistory } from '../store/place-evidence.ts'
import type { ChangeNotification, Store } from '../store/store.ts'
import { type Clock, systemClock, wait } from './clock.ts'
import {
  covers,
  createLiveWindow,
  endLiveWindow,
  extendLiveWindow,
  type Frame,
  isBehind,
  notifyLiveWindow,
  nextChange,
  nothing,
  placeLiveWindow,
  type OlderFrame,
  readOlderFrame,
  restartLiveWindow,
  sliceLiveWindow,
  type LiveWindow,
  wakeFollowers,
} from './live-window.ts'

/**
 * Delivers committed changes to the followers of a thread. Each followed thread has one live window: its
 * newest changes, shared by all its followers, bounded, filled by this process's own commits or by
 * one read per notification, however many follow. A follower that is behind the live window reads the database at
 * its own pace, so a slow one costs the run nothing and nobody unbounded memory.
 */
export interface Hub {
  /**
   * This process is about to commit to a thread and will deliver the frame itself: until then a notification of
   * that commit starts no read. Null: nothing was committed.
   */
  announce(threadId: ThreadId): (frame: Frame | null) => void
  /** Keeps what is committed to a thread as if somebody followed it: whoever comes then need not read it. */
  keep(threadId: ThreadId): () => void
  /** Every change after a seq, in order, once; ends when the signal aborts or the thread is deleted. */
  follow(
    threadId: ThreadId,
    after: Seq,
    signal: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  readonly followers: number
  close(): void
}

/** Begins a read of the database when it is this follower's turn to read (OP7a). */
export type ReadGate = <Result>(read: () => Promise<Result>) => Promise<Result>

const openGate: ReadGate = (read) => read()

const readAtOnce = 500
/** A read is one slice of work between two requests of other people, and one piece in a socket's queue. */
const bytesAtOnce = 262_144
const readAgainMs = 250
/** How long a follower may miss a change that its process died before telling of. */
const lookEveryMs = 5_000

export function createHub(store: Store, clock: Clock = systemClock): Hub {
  const liveWindows = new Map<ThreadId, LiveWindow>()
  let followers = 0
  let isClosed = false

  const read = async (threadId: ThreadId, after: Seq): Promise<OlderFrame> => {
    const found = await store.readChanges({
      threadId,
      after,
      limit: readAtOnce,
      results: 'bounded',
      maxBytes: bytesAtOnce,
    })
    if (found === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
    if (found.seq < after) {
      throw new HoldfastError('bad-request', `The thread ends at ${found.seq}, before ${after}.`)
    }
    const { changes, reached, incarnation = '' } = found
    const frame = { after, seq: reached, changes, incarnation, bytes: bytesAtOnce, end: found.seq }
    const isChanged = reached === found.seq && changes.some(canChangeQueue)
    return isChanged ? { ...frame, queue: found.queue } : frame
  }

  /**
   * While the line was down another database may have taken over, or a backup: what the window holds may
   * be of a history that is no more. Then its followers end; whoever comes again is told so (OP6).
   */
  const leaveOtherHistory = async (threadId: ThreadId, liveWindow: LiveWindow): Promise<void> => {
    const { place, isUncertain } = liveWindow
    if (!isUncertain) return
    const found = place === null ? null : await store.readPlace?.(threadId, place.seq)
    liveWindow.isUncertain = false
    if (place !== null && found != null && isOtherHistory(place, found)) endLiveWindow(liveWindow)
  }

  /** One read for all followers that wait at the end of the live window. */
  const refresh = (threadId: ThreadId, liveWindow: LiveWindow): Promise<void> => {
    const { known, isUncertain } = liveWindow
    liveWindow.reading ??= leaveOtherHistory(threadId, liveWindow)
      .then(() => read(threadId, liveWindow.to))
      .then((frame) => {
        // What came one by one is short: counted at its most, it would drive out what others still need.
        extendLiveWindow(liveWindow, { ...frame, bytes: jsonLength(frame.changes) })
        // Unless a notification came meanwhile, the database has just said that this is all.
        if (liveWindow.known === known && frame.seq === frame.end) liveWindow.known = liveWindow.to
      })
      .catch((error: unknown) => {
        // What was missed has still to be read, by whichever follower is next.
        if (isUncertain) liveWindow.isUncertain = true
        throw error
      })
      .finally(() => {
        liveWindow.reading = null
      })
    return liveWindow.reading
  }

  /** Whoever follows waits for a store that cannot be read right now: what it has been shown still holds (LG3a). */
  const patiently = async <Result>(work: () => Promise<Result>, signal: AbortSignal) => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const isPassing = error instanceof HoldfastError && (error.isTemporary || error.isInDoubt)
        if (!isPassing || isClosed || signal.aborted) throw error
        await wait(clock, readAgainMs, signal)
      }
    }
  }

  /** Compares where followed threads stand with what their followers have been told (RS7). */
  const lookForMissed = async (): Promise<void> => {
    const waiting = [...liveWindows].filter(([, { waiting: followersOf }]) => followersOf.size > 0)
    const places = new Map(waiting.map(([, liveWindow]) => [liveWindow, liveWindow.to]))
    if (places.size === 0) return
    const found = await store.readSeqs?.(waiting.map(([threadId]) => threadId))
    for (const [threadId, liveWindow] of waiting) {
      const seq = found?.get(threadId)
      if (seq === undefined) endLiveWindow(liveWindow)
      else {
        // Its numbers have gone back.
        if (seq < (places.get(liveWindow) ?? 0)) liveWindow.isUncertain = true
        notifyLiveWindow(liveWindow, seq)
      }
    }
  }
  let cancelLook: (() => void) | null = null
  const lookLater = (): void => {
    if (store.readSeqs === undefined || isClosed || followers === 0 || cancelLook !== null) return
    const cancel = clock.after(lookEveryMs, () => {
      // The store does not answer: the next look finds the same and more.
      const looked = lookForMissed().catch(() => undefined)
      void looked.then(() => {
        if (cancelLook === cancel) cancelLook = null
        lookLater()
      })
    })
    cancelLook = cancel
  }
  const lookNoMore = (): void => {
    cancelLook?.()
    cancelLook = null
  }

  const hold = (threadId: ThreadId): LiveWindow => {
    const found = liveWindows.get(threadId)
    // One that has ended is of a thread that is gone: this one was made anew under its id.
    const isGone = found === undefined || found.ended
    const liveWindow = isGone ? { ...createLiveWindow(clock), ended: isClosed } : found
    liveWindows.set(threadId, liveWindow)
    liveWindow.holders++
    return liveWindow
  }
  const letGo = (threadId: ThreadId, liveWindow: LiveWindow): void => {
    if (--liveWindow.holders > 0) return
    liveWindow.cancelRound?.()
    if (liveWindows.get(threadId) === liveWindow) liveWindows.delete(threadId)
  }

  const onChange = ({ threadId, seq }: ChangeNotification) => {
    if (threadId === null) {
      for (const liveWindow of liveWindows.values()) {
        liveWindow.isUncertain = true
        notifyLiveWindow(liveWindow, liveWindow.to)
      }
      return
    }
    const liveWindow = liveWindows.get(threadId)
    if (liveWindow === undefined) return
    if (seq === 0) liveWindow.ended = true
    notifyLiveWindow(liveWindow, seq)
  }
  const unwatch = store.watch(onChange, () => liveWindows.keys())

  return {
    get followers() {
      return followers
    },

    announce(threadId) {
      const before = liveWindows.get(threadId)
      if (before !== undefined) before.announced++
      return (frame) => {
        if (before !== undefined) before.announced--
        const liveWindow = liveWindows.get(threadId)
        if (liveWindow === undefined) return
        if (frame === null) wakeFollowers(liveWindow)
        else {
          // A thread's first events: what this window holds belongs to an earlier thread with the same id.
          if (frame.after === 0) restartLiveWindow(liveWindow, 0)
          extendLiveWindow(liveWindow, frame)
        }
      }
    },

    keep(threadId) {
      const liveWindow = hold(threadId)
      return () => letGo(threadId, liveWindow)
    },

    async *follow(threadId, after, signal, gate = openGate) {
      // Before the first read: what is committed from here on is either in it or in the live window.
      const liveWindow = hold(threadId)
      followers++
      lookLater()
      try {
        // How far the database went when it was last read for this follower.
        let end: Seq = after
        const readOlder = async (from: Seq): Promise<Frame> => {
          // Also where another has read it: to send it on is work that others must get between.
          const older = await gate(async () => {
            // While it waited, somebody who stands where it does has read that this is all, or the next was committed.
            if (covers(liveWindow, from)) return undefined
            const found = await readOlderFrame(liveWindow, from, () => read(threadId, from))
            if (found.seq === found.end) placeLiveWindow(liveWindow, found)
            return found
          })
          if (older === undefined) return nothing(from)
          end = older.seq > from ? older.end : from
          return older
        }
        let frame: Frame = covers(liveWindow, after) ? nothing(after) : await readOlder(after)
        let at = after
        while (!signal.aborted) {
          if (frame.seq > at) {
            at = frame.seq
            yield frame
            continue
          }
          if (liveWindow.ended) return
          if (at < liveWindow.to && covers(liveWindow, at)) frame = sliceLiveWindow(liveWindow, at)
          else if (at < liveWindow.from || at < end) {
            frame = await patiently(() => readOlder(at), signal)
          } else if (liveWindow.announced === 0 && isBehind(liveWindow, at)) {
            if (liveWindow.to < at) restartLiveWindow(liveWindow, at)
            await patiently(() => refresh(threadId, liveWindow), signal)
          } else await nextChange(liveWindow, signal)
        }
      } finally {
        if (--followers === 0) lookNoMore()
        letGo(threadId, liveWindow)
      }
    },

    close() {
      unwatch()
      isClosed = true
      lookNoMore()
      for (const liveWindow of liveWindows.values()) {
        liveWindow.ended = true
        wakeFollowers(liveWindow)
      }
    },
  }
}
