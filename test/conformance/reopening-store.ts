import type { ChangeNotification, Store } from '../../src/store/store.ts'

/**
 * A store that is closed and opened again before everything that it reads: what it answers cannot
 * come from anywhere but the data.
 */
export function reopenBeforeReads(first: Store, reopen: (store: Store) => Promise<Store>): Store {
  let current = first
  let isClosed = false
  const listeners = new Set<(notification: ChangeNotification) => void>()

  const reopened = async (): Promise<Store> => {
    if (isClosed) return current
    current = await reopen(current)
    for (const listener of listeners) current.watch(listener)
    return current
  }

  return {
    kind: first.kind,
    createThread: (thread) => current.createThread(thread),
    setThreadMetadata: (change) => current.setThreadMetadata(change),
    deleteThread: (id) => current.deleteThread(id),
    commit: (appends) => current.commit(appends),
    requestStop: (threadId, only) => current.requestStop(threadId, only),

    readThread: async (id) => (await reopened()).readThread(id),
    listThreads: async (query) => (await reopened()).listThreads(query),
    readPage: async (query) => (await reopened()).readPage(query),
    readChanges: async (query) => (await reopened()).readChanges(query),
    readPlace: async (threadId, seq) =>
      (await (await reopened()).readPlace?.(threadId, seq)) ?? null,
    readPath: async (...asked) => (await reopened()).readPath(...asked),
    readMessage: async (...asked) => (await reopened()).readMessage(...asked),
    findInput: async (...asked) => (await (await reopened()).findInput?.(...asked)) ?? null,
    findTurn: async (...asked) => (await reopened()).findTurn(...asked),
    readCall: async (...asked) => (await reopened()).readCall(...asked),
    findAbandonedRuns: async (limit) => (await reopened()).findAbandonedRuns(limit),

    watch(listener) {
      const own = (notification: ChangeNotification) => {
        if (listeners.has(own)) listener(notification)
      }
      listeners.add(own)
      current.watch(own)
      return () => void listeners.delete(own)
    },
    async close() {
      isClosed = true
      await current.close()
    },
  }
}
