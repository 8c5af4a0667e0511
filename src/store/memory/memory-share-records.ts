import type { ThreadId } from '../../core/ids.ts'
import type { ShareId, StoredShare } from '../../core/share.ts'
import { isAnother } from '../../core/thread-place.ts'
import type { FinishedShare, SharedText, ShareRecords } from '../share-records.ts'
import type { MemoryThread } from './memory-thread.ts'

interface MemoryShare {
  readonly threadId: ThreadId
  readonly incarnation: string
  readonly createdAt: number
  readonly texts: readonly SharedText[]
  /** Null: not finished yet. */
  readonly finished: FinishedShare | null
}

/** The rows, and what the store does with them when it deletes a thread. */
export interface MemoryShareRecords extends ShareRecords {
  release(threadId: ThreadId): void
}

export function createMemoryShareRecords(
  threads: ReadonlyMap<ThreadId, MemoryThread>,
): MemoryShareRecords {
  const shares = new Map<ShareId, MemoryShare>()
  /** A link of a deleted thread no longer exists, even if a new thread has the same id. */
  const find = (
    id: ShareId,
  ): { readonly share: MemoryShare; readonly thread: MemoryThread } | null => {
    const share = shares.get(id)
    const thread = share && threads.get(share.threadId)
    if (share === undefined || thread?.head.incarnation !== share.incarnation) return null
    return { share, thread }
  }
  const ofThread = (threadId: ThreadId) =>
    [...shares].filter(([id, share]) => share.threadId === threadId && find(id) !== null)
  return {
    async begin({ id, threadId, incarnation: known = '', at, most, unfinishedBefore }) {
      const thread = threads.get(threadId)
      if (thread === undefined || isAnother(known, thread.head.incarnation)) return 'no-thread'
      for (const [key, { finished, createdAt }] of ofThread(threadId)) {
        if (finished === null && createdAt < unfinishedBefore) shares.delete(key)
      }
      if (ofThread(threadId).length >= most) return 'full'
      const { incarnation } = thread.head
      shares.set(id, { threadId, incarnation, createdAt: at, texts: [], finished: null })
      return 'begun'
    },
    async add(id, texts) {
      const share = shares.get(id)
      if (share?.finished !== null) return
      shares.set(id, { ...share, texts: [...share.texts, ...texts] })
    },
    async finish(finished) {
      const found = find(finished.id)
      if (found === null) return false
      shares.set(finished.id, { ...found.share, finished })
      return true
    },
    async read(id): Promise<StoredShare | null> {
      const found = find(id)
      if (found === null || found.share.finished === null) return null
      const { threadId, createdAt, finished } = found.share
      return { ...finished, threadId, createdAt, ownerId: found.thread.thread.ownerId }
    },
    async readTexts({ id, before, limit, maxBytes }) {
      const all = (find(id)?.share.texts ?? [])
        .filter(({ nth }) => before === null || nth < before)
        .toReversed()
      let bytes = 0
      const fits = all.slice(0, limit).findIndex(({ body }, index) => {
        const isOver = index > 0 && bytes >= maxBytes
        bytes += body.length
        return isOver
      })
      const texts = all.slice(0, fits === -1 ? limit : fits)
      return { texts, hasMore: texts.length < all.length }
    },
    list: async (threadId, incarnation = '') =>
      ofThread(threadId)
        .filter(([, share]) => !isAnother(incarnation, share.incarnation))
        .toReversed()
        .flatMap(([id, { createdAt, finished }]) =>
          finished === null ? [] : [{ id, threadId, seq: finished.seq, createdAt }],
        ),
    async remove(threadId, id, incarnation = '') {
      const share = find(id)?.share
      const isIt = share?.threadId === threadId && !isAnother(incarnation, share.incarnation)
      return isIt && shares.delete(id)
    },
    release(threadId) {
      for (const [id, share] of shares) if (share.threadId === threadId) shares.delete(id)
    },
  }
}
