import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import {
  covers,
  createLiveWindow,
  extendLiveWindow,
  type Frame,
  notifyLiveWindow,
  nextChange,
  nothing,
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
  follow(threadId: ThreadId, after: Seq, signal: AbortSignal): AsyncGenerator<Frame, void>
  readonly followers: number
  close(): void
}

const readAtOnce = 500

export function createHub(store: Store): Hub {
  const liveWindows = new Map<ThreadId, LiveWindow>()
  let followers = 0
  let isClosed = false

  const read = async (threadId: ThreadId, after: Seq): Promise<Frame & { end: Seq }> => {
    const found = await store.readChanges({ threadId, after, limit: readAtOnce, results: 'full' })
    if (found === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
    if (found.seq < after) {
      throw new HoldfastError('bad-request', `The thread ends at ${found.seq}, before ${after}.`)
    }
    return { after, seq: found.reached, changes: found.changes, end: found.seq }
  }

  /** One read for all followers that wait at the end of the live window. */
  const refresh = (threadId: ThreadId, liveWindow: LiveWindow): Promise<void> => {
    const known = liveWindow.known
    liveWindow.reading ??= read(threadId, liveWindow.to)
      .then((frame) => {
        extendLiveWindow(liveWindow, frame)
        // Unless a notification came meanwhile, the database has just said that this is all.
        if (liveWindow.known === known && frame.seq === frame.end) liveWindow.known = liveWindow.to
      })
      .finally(() => {
        liveWindow.reading = null
      })
    return liveWindow.reading
  }

  const hold = (threadId: ThreadId): LiveWindow => {
    const found = liveWindows.get(threadId)
    // One that has ended is of a thread that is gone: this one was made anew under its id.
    const isGone = found === undefined || found.ended
    const liveWindow = isGone ? { ...createLiveWindow(), ended: isClosed } : found
    liveWindows.set(threadId, liveWindow)
    liveWindow.holders++
    return liveWindow
  }
  const letGo = (threadId: ThreadId, liveWindow: LiveWindow): void => {
    if (--liveWindow.holders === 0 && liveWindows.get(threadId) === liveWindow)
      liveWindows.delete(threadId)
  }

  const unwatch = store.watch(({ threadId, seq }) => {
    if (threadId === null) {
      for (const liveWindow of liveWindows.values()) notifyLiveWindow(liveWindow, liveWindow.to + 1)
      return
    }
    const liveWindow = liveWindows.get(threadId)
    if (liveWindow === undefined) return
    if (seq === 0) liveWindow.ended = true
    notifyLiveWindow(liveWindow, seq)
  })

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

    async *follow(threadId, after, signal) {
      // Before the first read: what is committed from here on is either in it or in the live window.
      const liveWindow = hold(threadId)
      followers++
      const stop = () => wakeFollowers(liveWindow)
      signal.addEventListener('abort', stop)
      try {
        let frame: Frame = covers(liveWindow, after) ? nothing(after) : await read(threadId, after)
        let at = after
        while (!signal.aborted) {
          if (frame.seq > at) {
            at = frame.seq
            yield frame
            continue
          }
          if (liveWindow.ended) return
          if (at < liveWindow.from) frame = await read(threadId, at)
          else if (at < liveWindow.to) frame = sliceLiveWindow(liveWindow, at)
          else if (liveWindow.announced === 0 && liveWindow.known > Math.max(liveWindow.to, at)) {
            if (liveWindow.to < at) restartLiveWindow(liveWindow, at)
            await refresh(threadId, liveWindow)
          } else await nextChange(liveWindow)
        }
      } finally {
        signal.removeEventListener('abort', stop)
        followers--
        letGo(threadId, liveWindow)
      }
    },

    close() {
      unwatch()
      isClosed = true
      for (const liveWindow of liveWindows.values()) {
        liveWindow.ended = true
        wakeFollowers(liveWindow)
      }
    },
  }
}
