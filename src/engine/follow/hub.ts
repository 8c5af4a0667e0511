import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import { canChangeQueue } from '../../core/queue.ts'
import { isAnother, type ThreadPlace } from '../../core/thread-place.ts'
import { jsonLength } from '../../store/large-outputs.ts'
import { isOtherHistory } from '../../store/place-evidence.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import type { ChangeNotification, Store, StoredSeq } from '../../store/store.ts'
import { type Clock, systemClock, wait } from '../clock.ts'
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
 * Delivers committed changes to the followers of a thread. Each followed thread has one live window: its newest
 * changes, shared by all its followers, bounded, filled by this process's own commits or by one read per notification,
 * however many follow. A follower that is behind the live window reads the database at its own pace, so a slow follower
 * neither delays the run nor needs unbounded memory.
 */
export interface Hub {
  /**
   * Called before this process commits to a thread; it will deliver the frame itself, so until then a notification of
   * that commit starts no read. Null: nothing was committed.
   */
  announce(threadId: ThreadId): (frame: Frame | null) => void
  /**
   * Keeps the live window of a thread without a follower, so that a follower that comes later need not read the
   * database.
   */
  keep(threadId: ThreadId): () => void
  /** Every change after a place, in order, once; ends when the signal aborts or the thread is deleted. */
  follow(
    threadId: ThreadId,
    after: FollowedPlace,
    signal: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  readonly followers: number
  close(): void
}

/**
 * Where a follower begins: a seq, or a seq of one of the threads that have had the id. A follower that has read a thread
 * knows its incarnation, and gets changes of that thread only. A bare seq is one of the thread that is stored when the
 * follower begins (OP6).
 */
export type FollowedPlace = Seq | Pick<ThreadPlace, 'seq' | 'incarnation'>

/** Schedules a read of the database among the followers' reads, so that none of them starves the others (OP7a). */
export type ReadGate = <Result>(read: () => Promise<Result>) => Promise<Result>

const openGate: ReadGate = (read) => read()

const readAtOnce = 500
const readAgainMs = 250
/** How long a follower may miss a change whose notification was lost because its process died. */
const lookEveryMs = 5_000

/** The thread was deleted, or another one with this id has not reached the follower's seq. */
const isGone = (error: unknown): boolean =>
  error instanceof HoldfastError &&
  (error.code === 'thread-not-found' || error.code === 'bad-request')

const notFound = () => new HoldfastError('thread-not-found', 'There is no such thread.')

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
      maxBytes: bytesPerSlice,
    })
    if (found === null) throw notFound()
    if (found.seq < after) {
      throw new HoldfastError('bad-request', `The thread ends at ${found.seq}, before ${after}.`)
    }
    const { changes, reached, incarnation = '' } = found
    const frame = {
      after,
      seq: reached,
      changes,
      incarnation,
      bytes: bytesPerSlice,
      end: found.seq,
    }
    const isChanged = reached === found.seq && changes.some(canChangeQueue)
    return isChanged ? { ...frame, queue: found.queue } : frame
  }

  /**
   * While the notify listener was disconnected, the database may have been replaced by a failover or a backup: the live
   * window may contain changes of a history that no longer exists. Then its followers' streams end, and a follower that
   * reconnects learns of it (OP6).
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
        // Changes that arrive one by one are short: with the upper bound of the read as its size, the frame would evict
        // what others still need.
        extendLiveWindow(liveWindow, { ...frame, bytes: jsonLength(frame.changes) })
        // Unless a notification arrived meanwhile, the read has shown that there is nothing more.
        if (liveWindow.known === known && frame.seq === frame.end) liveWindow.known = liveWindow.to
      })
      .catch((error: unknown) => {
        // The missed changes have still to be read, by the next follower.
        if (isUncertain) liveWindow.isUncertain = true
        throw error
      })
      .finally(() => {
        liveWindow.reading = null
      })
    return liveWindow.reading
  }

  /** A follower waits while the store cannot be read: what it has received is still valid (LG3a). */
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

  /** What was stored at the previous look. */
  let storedBefore: ReadonlyMap<ThreadId, StoredSeq> = new Map()
  /**
   * Compares what is stored of the followed threads with what their followers have received, in case a notification was
   * lost (RS7). A window that lacks what was stored at the previous look is read even while a commit of this process is
   * in flight: that commit may be of a run that another process has taken over, and may wait for the store for a minute.
   */
  const lookForMissed = async (): Promise<void> => {
    const looked = [...liveWindows]
      .filter(([, liveWindow]) => liveWindow.waiting.size > 0)
      // As each window was before the read: whatever it has received since is not missed.
      .map(([threadId, liveWindow]) => ({ threadId, liveWindow, before: { ...liveWindow } }))
    if (looked.length === 0) return
    const previous = storedBefore
    const found = await store.readSeqs?.(looked.map(({ threadId }) => threadId))
    storedBefore = found ?? new Map()
    for (const { threadId, liveWindow, before } of looked) {
      // Created again by this process meanwhile: what was read may be of the deleted one.
      if (isAnother(before.incarnation, liveWindow.incarnation)) continue
      const { seq, incarnation = '' } = found?.get(threadId) ?? { seq: null }
      if (seq === null || isAnother(before.incarnation, incarnation)) endLiveWindow(liveWindow)
      else {
        // The thread's seq has gone back: its history may have been replaced.
        if (seq < before.to) liveWindow.isUncertain = true
        notifyLiveWindow(liveWindow, seq)
        const isOverdue = (previous.get(threadId)?.seq ?? 0) > liveWindow.to && liveWindow.to > 0
        // If the read fails, the next look finds the same.
        if (isOverdue) refresh(threadId, liveWindow).catch(() => undefined)
      }
    }
  }
  let cancelLook: (() => void) | null = null
  const lookLater = (): void => {
    if (store.readSeqs === undefined || isClosed || followers === 0 || cancelLook !== null) return
    const cancel = clock.after(lookEveryMs, () => {
      // The store does not respond: the next check finds the same and more.
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
    // A live window that has ended belongs to a deleted thread: this thread was created again under its id.
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

  const onChange = ({ threadId, seq, incarnation }: ChangeNotification) => {
    if (threadId === null) {
      for (const liveWindow of liveWindows.values()) {
        liveWindow.isUncertain = true
        notifyLiveWindow(liveWindow, liveWindow.to)
      }
      return
    }
    const liveWindow = liveWindows.get(threadId)
    if (liveWindow === undefined) return
    if (seq === 0 && incarnation !== undefined && liveWindow.incarnation !== incarnation) {
      // Late: an earlier thread with this id was deleted, and the window belongs to the one created since. As long as
      // that is not known, its followers have to read what is stored.
      if (liveWindow.incarnation !== '') return
      liveWindow.isUncertain = true
    } else if (seq === 0) liveWindow.ended = true
    // Most notifications are of a commit of this process, which delivers its own frame: followers woken before that
    // would find nothing and wait again.
    if (liveWindow.announced > 0 && !liveWindow.ended) {
      liveWindow.known = Math.max(liveWindow.known, seq)
    } else notifyLiveWindow(liveWindow, seq)
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
          // Another process committed meanwhile, and its notification woke nobody.
          if (liveWindow.announced === 0 && isBehind(liveWindow, liveWindow.to)) {
            wakeFollowers(liveWindow)
          }
        }
      }
    },

    keep(threadId) {
      const liveWindow = hold(threadId)
      return () => letGo(threadId, liveWindow)
    },

    async *follow(threadId, place, signal, gate = openGate) {
      const after = typeof place === 'number' ? place : place.seq
      /** Which of the threads that have had this id is followed; empty: not known yet. */
      let incarnation = typeof place === 'number' ? '' : place.incarnation
      const isMine = (other: { readonly incarnation: string }): boolean =>
        !isAnother(incarnation, other.incarnation)
      // Before the first read: a change that is committed from here on is either in that read or in the live window.
      let liveWindow = hold(threadId)
      followers++
      lookLater()
      // Who knows the incarnation has read the thread before: if it is gone since, the stream ends and does not fail.
      let hasBegun = incarnation !== ''
      try {
        // The end of the thread when it was last read for this follower.
        let end: Seq = after
        /** What is read for others may be older than this follower's thread, and so may the window. */
        const readForItself = async (from: Seq): Promise<OlderFrame> => {
          const before = liveWindow.incarnation
          const found = await read(threadId, from)
          if (isMine(liveWindow) || !isMine(found)) return found
          // The window was there before this read, which has not found its thread any more.
          if (liveWindow.incarnation === before) endLiveWindow(liveWindow)
          letGo(threadId, liveWindow)
          liveWindow = hold(threadId)
          return found
        }
        const readOlder = async (from: Seq): Promise<Frame> => {
          // Also if the read is shared: sending the result is work that must be scheduled between the requests of
          // others.
          const older = await gate(async () => {
            // While it waited for its slot, another follower at the same seq has read to the end, or a commit has
            // arrived.
            if (covers(liveWindow, from) && isMine(liveWindow)) return undefined
            const shared = await readOlderFrame(liveWindow, from, () => read(threadId, from))
            incarnation ||= shared.incarnation
            const isShared = isMine(shared) && isMine(liveWindow)
            const found = isShared ? shared : await readForItself(from)
            if (found.seq === found.end) placeLiveWindow(liveWindow, found)
            liveWindow.known = Math.max(liveWindow.known, found.end)
            return found
          })
          if (older === undefined) return nothing(liveWindow, from)
          end = older.seq > from ? older.end : from
          return older
        }
        if (incarnation === '' && liveWindow.incarnation !== '') {
          // The window may be that of a thread that was deleted elsewhere a moment ago.
          const stored = await gate(() => store.readThread(threadId))
          if (stored === null) throw notFound()
          incarnation = stored.incarnation ?? ''
        }
        let frame: Frame =
          covers(liveWindow, after) && isMine(liveWindow)
            ? nothing(liveWindow, after)
            : await readOlder(after)
        hasBegun = true
        let at = after
        while (!signal.aborted) {
          // Changes of a thread that was created again under this id must not be delivered as those of the deleted one.
          if (!isMine(frame)) return
          incarnation ||= frame.incarnation
          if (frame.seq > at) {
            at = frame.seq
            yield frame
            continue
          }
          if (liveWindow.ended || !isMine(liveWindow)) return
          // What the window has may be of a lost history: it is read again first.
          const mustRead = liveWindow.isUncertain && liveWindow.announced === 0
          if (at < liveWindow.to && covers(liveWindow, at) && !mustRead) {
            frame = sliceLiveWindow(liveWindow, at)
          } else if (at < liveWindow.from || (at < end && !covers(liveWindow, at))) {
            // Not where the window ends at `at`: the window counts as read there, and only `refresh` extends it.
            frame = await patiently(() => readOlder(at), signal)
          } else if (liveWindow.announced === 0 && isBehind(liveWindow, at)) {
            if (liveWindow.to < at) restartLiveWindow(liveWindow, at)
            await patiently(() => refresh(threadId, liveWindow), signal)
          } else await nextChange(liveWindow, signal)
        }
      } catch (error) {
        if (!hasBegun || !isGone(error)) throw error
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
