import {
  type Append,
  type AppendResult,
  memory,
  type NewEvent,
  planCommit,
  type PlannedCommit,
  type Store,
} from 'holdfast'
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
