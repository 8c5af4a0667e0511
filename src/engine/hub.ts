import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import {
  covers,
  createTail,
  extendTail,
  type Frame,
  hintTail,
  nextWake,
  nothing,
  restartTail,
  sliceTail,
  type Tail,
  wakeTail,
} from './tail.ts'

/**
 * Where followers of threads meet what was committed. Each thread that is followed has one tail: its
 * newest changes, shared by all its followers, bounded, filled by this process's own commits or by
 * one read per hint, however many follow. A follower that is behind the tail reads the database at
 * its own pace, so a slow one costs the run nothing and nobody unbounded memory.
 */
export interface Hub {
  /**
   * This process is about to commit to a thread, and will say what: until then a hint of that commit
   * makes nobody read what is about to be told. Null: nothing came of it.
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
  const tails = new Map<ThreadId, Tail>()
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

  /** One read for all followers that wait at the end of the tail. */
  const refresh = (threadId: ThreadId, tail: Tail): Promise<void> => {
    const known = tail.known
    tail.reading ??= read(threadId, tail.to)
      .then((frame) => {
        extendTail(tail, frame)
        // Unless a hint came meanwhile, the database has just said that this is all.
        if (tail.known === known && frame.seq === frame.end) tail.known = tail.to
      })
      .finally(() => {
        tail.reading = null
      })
    return tail.reading
  }

  const hold = (threadId: ThreadId): Tail => {
    const found = tails.get(threadId)
    // One that has ended is of a thread that is gone: this one was made anew under its id.
    const isGone = found === undefined || found.ended
    const tail = isGone ? { ...createTail(), ended: isClosed } : found
    tails.set(threadId, tail)
    tail.holders++
    return tail
  }
  const letGo = (threadId: ThreadId, tail: Tail): void => {
    if (--tail.holders === 0 && tails.get(threadId) === tail) tails.delete(threadId)
  }

  const unwatch = store.watch(({ threadId, seq }) => {
    if (threadId === null) {
      for (const tail of tails.values()) hintTail(tail, tail.to + 1)
      return
    }
    const tail = tails.get(threadId)
    if (tail === undefined) return
    if (seq === 0) tail.ended = true
    hintTail(tail, seq)
  })

  return {
    get followers() {
      return followers
    },

    announce(threadId) {
      const before = tails.get(threadId)
      if (before !== undefined) before.announced++
      return (frame) => {
        if (before !== undefined) before.announced--
        const tail = tails.get(threadId)
        if (tail === undefined) return
        if (frame === null) wakeTail(tail)
        else {
          // The first facts of a thread: whatever is here was said in one that had its id before.
          if (frame.after === 0) restartTail(tail, 0)
          extendTail(tail, frame)
        }
      }
    },

    keep(threadId) {
      const tail = hold(threadId)
      return () => letGo(threadId, tail)
    },

    async *follow(threadId, after, signal) {
      // Before the first read: what is committed from here on is either in it or in the tail.
      const tail = hold(threadId)
      followers++
      const stop = () => wakeTail(tail)
      signal.addEventListener('abort', stop)
      try {
        let frame: Frame = covers(tail, after) ? nothing(after) : await read(threadId, after)
        let at = after
        while (!signal.aborted) {
          if (frame.seq > at) {
            at = frame.seq
            yield frame
            continue
          }
          if (tail.ended) return
          if (at < tail.from) frame = await read(threadId, at)
          else if (at < tail.to) frame = sliceTail(tail, at)
          else if (tail.announced === 0 && tail.known > Math.max(tail.to, at)) {
            if (tail.to < at) restartTail(tail, at)
            await refresh(threadId, tail)
          } else await nextWake(tail)
        }
      } finally {
        signal.removeEventListener('abort', stop)
        followers--
        letGo(threadId, tail)
      }
    },

    close() {
      unwatch()
      isClosed = true
      for (const tail of tails.values()) {
        tail.ended = true
        wakeTail(tail)
      }
    },
  }
}
