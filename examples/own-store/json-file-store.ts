// A store of one's own, in a JSON file: the rules come from `holdfast/store`, the keeping from here. The whole file is
// written at each commit, so it is for small things: a desktop app, a test, a beginning.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import {
  applyCommit,
  changedThreads,
  createLedgerReader,
  createLocalNotifier,
  createRowsSource,
  createThreadRows,
  HoldfastError,
  isHeld,
  isRunToStop,
  isStale,
  type Store,
  type ThreadRows,
  passesFilter,
  toMetadataText,
} from 'holdfast/store'

interface Data {
  /** Numbers that are never given twice: the order of the list, and the fences of leases. */
  readonly counter: number
  readonly threads: readonly ThreadRows[]
}

export interface JsonFileOptions {
  /** The clock that leases run by. @default Date.now */
  readonly now?: () => number
  /** Waits until the disk has it: without, a power cut may take the last commits. @default true */
  readonly flush?: boolean
}

export function jsonFileStore(file: string, options: JsonFileOptions = {}): Store {
  const { now = Date.now, flush = true } = options
  let data: Data = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Data)
    : { counter: 0, threads: [] }
  let isClosed = false
  const notifier = createLocalNotifier()
  // Whether the process behind a lease lives is not known here: the lease's time decides.
  const clock = { now, isAlive: () => undefined }

  const read = (): ReadonlyMap<string, ThreadRows> => {
    if (isClosed) throw new HoldfastError('store-closed', 'The store has been closed.')
    return new Map(data.threads.map((rows) => [rows.thread.id, rows]))
  }

  /** What the work has put into the map takes the place of the data once it is in the file: all of it, or nothing. */
  const write = <Result>(
    work: (threads: Map<string, ThreadRows>, nextNumber: () => number) => Result,
  ): Result => {
    const threads = new Map(read())
    let { counter } = data
    const result = work(threads, () => ++counter)
    const text = JSON.stringify({ counter, threads: [...threads.values()] })
    writeFileSync(`${file}.new`, text, { flush })
    renameSync(`${file}.new`, file)
    // What comes out is what the file says, shared with nobody.
    data = JSON.parse(text) as Data
    return result
  }

  const source = createRowsSource({
    read: async (threadId) => read().get(threadId),
    findTurn: async (turnId) =>
      [...read().values()].find(({ messages }) =>
        messages.some(({ id, role }) => id === turnId && role === 'assistant'),
      ),
  })

  return {
    kind: 'json-file',
    ...createLedgerReader(source),

    async createThread(wanted) {
      const found = read().get(wanted.id)?.thread
      if (found !== undefined) {
        const isOwn = found.ownerId === wanted.ownerId
        return isOwn ? { kind: 'exists', thread: found } : { kind: 'taken' }
      }
      return write((threads, nextNumber) => {
        const rows = createThreadRows(wanted, nextNumber())
        threads.set(wanted.id, rows)
        return { kind: 'created', thread: rows.thread }
      })
    },

    readThread: async (id) => read().get(id)?.thread ?? null,

    async listThreads({ ownerId, limit, before, filter }) {
      const mine = [...read().values()]
        .map(({ thread }) => thread)
        .filter((thread) => thread.ownerId === ownerId && passesFilter(thread, filter))
        .filter(({ activity }) => before === null || activity < before)
        .sort((left, right) => right.activity - left.activity)
      // A list does not say what waits in each thread, nor which of those that have had its id it is.
      const threads = mine
        .slice(0, limit)
        .map(({ queue: _, incarnation: _drawn, ...listed }) => listed)
      return { threads, hasMore: mine.length > limit }
    },

    async setThreadMetadata({ threadId, incarnation, from, to }) {
      const rows = read().get(threadId)
      if (rows === undefined) return 'no-thread'
      const isChanged = toMetadataText(rows.thread.metadata) !== toMetadataText(from)
      if (isChanged || isStale(rows.head, { incarnation })) return 'stale'
      return write((threads) => {
        threads.set(threadId, { ...rows, thread: { ...rows.thread, metadata: to } })
        return 'set'
      })
    },

    async deleteThread(threadId, only = {}) {
      const rows = read().get(threadId)
      if (rows === undefined || isStale(rows.head, only)) return null
      // The number is raised, or a lease of a thread that is made anew under this id could have an old fence.
      write((threads, nextNumber) => {
        nextNumber()
        return threads.delete(threadId)
      })
      notifier.post([{ threadId, seq: 0 }])
      return { messages: rows.messages.length }
    },

    async commit(commits) {
      const results = write((threads, nextNumber) =>
        commits.map((commit) => {
          const { threadId } = commit.append
          const before = threads.get(threadId)
          const { result, rows } = applyCommit(before, commit, { ...clock, nextNumber })
          if (result.kind === 'appended' && rows !== undefined) threads.set(threadId, rows)
          return result
        }),
      )
      notifier.post(changedThreads(commits, results))
      return results
    },

    async requestStop(threadId, only = {}) {
      const rows = read().get(threadId)
      if (rows === undefined) return { kind: 'no-thread' }
      const { turnId, fence, seq } = rows.head
      if (turnId === null || !isRunToStop({ ...rows.head, turnId }, only)) return { kind: 'idle' }
      write((threads) =>
        threads.set(threadId, { ...rows, head: { ...rows.head, stopFence: fence } }),
      )
      notifier.post([{ threadId, seq, stop: true }])
      return { kind: 'requested', turnId, fence }
    },

    async findAbandonedRuns(limit, only) {
      return [...read().values()]
        .filter(({ thread }) => only === undefined || thread.id === only)
        .flatMap(({ thread: { id: threadId }, head }) => {
          const { holder, turnId, fence } = head
          const isAbandoned = holder !== null && turnId !== null && !isHeld(head, clock)
          return isAbandoned ? [{ threadId, turnId, holder, fence }] : []
        })
        .slice(0, limit)
    },

    watch: (listener) => notifier.watch(listener),

    async close() {
      isClosed = true
    },
  }
}
