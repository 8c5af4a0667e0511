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
  const inUse = new Set<Promise<unknown>>()

  /** Uses the store as soon as nobody is opening it again; it is not closed before the use is over. */
  const use = async <Result>(task: (store: Store) => Promise<Result>): Promise<Result> => {
    let awaited
    do {
      awaited = opening
      await awaited
    } while (awaited !== opening)
    const using = task(current)
    inUse.add(using)
    try {
      return await using
    } finally {
      inUse.delete(using)
    }
  }
  const open = async (): Promise<Store> => {
    await Promise.allSettled(inUse)
    current = await reopen(current)
    for (const listener of listeners) current.watch(listener)
    return current
  }
  const read = <Result>(task: (store: Store) => Promise<Result>): Promise<Result> => {
    if (hasWritten && !isClosed) {
      hasWritten = false
      opening = opening.then(open)
    }
    return use(task)
  }
  const write = async <Result>(task: (store: Store) => Promise<Result>): Promise<Result> => {
    try {
      return await use(task)
    } finally {
      hasWritten = true
    }
  }

  return {
    kind: first.kind,
    createThread: (thread) => write((store) => store.createThread(thread)),
    setThreadMetadata: (change) => write((store) => store.setThreadMetadata(change)),
    deleteThread: (...asked) => write((store) => store.deleteThread(...asked)),
    commit: (appends) => write((store) => store.commit(appends)),
    requestStop: (...asked) => write((store) => store.requestStop(...asked)),

    readThread: (id) => read((store) => store.readThread(id)),
    listThreads: (query) => read((store) => store.listThreads(query)),
    readPage: (query) => read((store) => store.readPage(query)),
    readChanges: (query) => read((store) => store.readChanges(query)),
    readPlace: (threadId, seq) =>
      read(async (store) => (await store.readPlace?.(threadId, seq)) ?? null),
    readPath: (...asked) => read((store) => store.readPath(...asked)),
    readMessage: (...asked) => read((store) => store.readMessage(...asked)),
    findInput: (...asked) => read(async (store) => (await store.findInput?.(...asked)) ?? null),
    findTurn: (...asked) => read((store) => store.findTurn(...asked)),
    readCall: (...asked) => read((store) => store.readCall(...asked)),
    findAbandonedRuns: (limit) => read((store) => store.findAbandonedRuns(limit)),

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
