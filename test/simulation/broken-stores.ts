import {
  type Append,
  type AppendResult,
  memory,
  type NewEvent,
  planCommit,
  type PlannedCommit,
  type ShareRecords,
  type Store,
  type ThreadId,
} from 'holdfast'
import type { FileRecords } from 'holdfast/store'
import { toSharedMessage } from '../../src/views/shared-message.ts'
import type { OpenStore } from './run-seeds.ts'

/** The memory store with some verbs replaced. */
export const openBroken =
  (change: (store: Store) => Partial<Store>): OpenStore =>
  (options) => {
    const store = memory(options)
    return { ...store, ...change(store) }
  }

/** A store as the engine sees it that changes what it is told to write. */
export const rewriting = (store: Store, rewrite: (event: NewEvent) => NewEvent): Store => ({
  ...store,
  commit: (commits) =>
    store.commit(
      commits.map((commit) => {
        const { append } = commit
        const other = planCommit({ ...append, events: append.events.map(rewrite) })
        return 'kind' in other ? commit : other
      }),
    ),
})

/** A store as the engine sees it that writes another append where it changes one. */
export const changing = (store: Store, change: (append: Append) => Append): Store => ({
  ...store,
  commit: (commits) =>
    store.commit(
      commits.map((commit) => {
        const append = change(commit.append)
        const other = append === commit.append ? commit : planCommit(append)
        return 'kind' in other ? commit : other
      }),
    ),
})

/** Every file that was ever begun counts as unused. */
/** Reads what a link shows from the thread as it is, instead of from the copy. */
export function showingLater(store: Store): ShareRecords {
  const records = store.shares as ShareRecords
  const threads = new Map<string, ThreadId>()
  return {
    ...records,
    begin(share) {
      threads.set(share.id, share.threadId)
      return records.begin(share)
    },
    async readTexts(query) {
      const threadId = threads.get(query.id) ?? ''
      const live = { before: null, limit: 1_000, live: 'include', results: 'full' } as const
      const page = await store.readPage({ threadId, ...live })
      const messages = page?.messages.toReversed() ?? []
      const texts = messages
        .filter((message) => toSharedMessage(message, 1) !== null)
        .map((message, index) => ({
          nth: index + 1,
          body: JSON.stringify(toSharedMessage(message, index + 1)),
        }))
      return { texts: texts.toReversed(), hasMore: false }
    },
  }
}

export function collectingAll({ files }: Store): FileRecords {
  const records = files as FileRecords
  const begun: string[] = []
  return {
    ...records,
    begin(file) {
      begun.push(file.id)
      return records.begin(file)
    },
    claimUnused: async () => begun.splice(0),
  }
}

/** Knows which fence is the newest, and puts it into every append. */
export const openWithFence = (use: (append: Append, fence: number) => Append): OpenStore =>
  openBroken((store) => {
    const fences = new Map<string, number>()
    return {
      async commit(commits) {
        const results = await store.commit(
          commits.map((commit) => ({
            ...commit,
            append: use(commit.append, fences.get(commit.append.threadId) ?? 0),
          })),
        )
        for (const [index, result] of results.entries()) {
          const { threadId } = (commits[index] as PlannedCommit).append
          if (result.kind === 'appended' && result.fence !== undefined) {
            fences.set(threadId, result.fence)
          }
        }
        return results
      },
    }
  })

export const renumbered = (result: AppendResult): AppendResult =>
  result.kind === 'appended'
    ? { ...result, firstSeq: result.firstSeq - 1, seq: result.seq - 1 }
    : result

/** Answers before anything is written, as if it had been. */
export const hasty = (store: Store): Store => ({
  ...store,
  async commit(commits) {
    const append = commits[0]?.append
    if (append?.lease?.kind !== 'hold' || commits.length > 1) return store.commit(commits)
    const thread = await store.readThread(append.threadId)
    void store.commit(commits).catch(() => undefined)
    const before = thread?.seq ?? 0
    const seq = before + append.events.length
    const { fence } = append.lease
    return [{ kind: 'appended', firstSeq: before + 1, seq, fence, stopRequested: false }]
  },
})
