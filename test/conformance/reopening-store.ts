import type { ChangeNotification, Store } from '../../src/store/store.ts'

/**
 * A store that is closed and opened again before it reads what was written since: what it answers cannot come from
 * anywhere but the data. What it has read since it was opened is of the data too, so the next reads need no other.
 */
export function reopenAfterWrites(first: Store, reopen: (store: Store) => Promise<Store>): Store {
  let current = first
  let isClosed = false
  const listeners = new Set<(notification: ChangeNotification) => void>()
  let hasWritten = true
  let opening = Promise.resolve(first)

  /** The store once nobody is opening it again: others may begin to while one waits. */
  const opened = async (): Promise<Store> => {
    let awaited
    do {
      awaited = opening
      await awaited
    } while (awaited !== opening)
    return current
  }
  const open = async (): Promise<Store> => {
    current = await reopen(current)
    for (const listener of listeners) current.watch(listener)
    return current
  }
  const reopened = (): Promise<Store> => {
    if (hasWritten && !isClosed) {
      hasWritten = false
      opening = opening.then(open)
    }
    return opened()
  }
  const write = async <Result>(change: (store: Store) => Promise<Result>): Promise<Result> => {
    try {
      return await change(await opened())
    } finally {
      hasWritten = true
    }
  }

  return {
    kind: first.kind,
    createThread: (thread) => write((store) => store.createThread(thread)),
    setThreadMetadata: (change) => write((store) => store.setThreadMetadata(change)),
    deleteThread: (id) => write((store) => store.deleteThread(id)),
    commit: (appends) => write((store) => store.commit(appends)),
    requestStop: (threadId, only) => write((store) => store.requestStop(threadId, only)),

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
