import { HoldfastError } from '../core/holdfast-error.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'
import type { AppendResult, Store } from '../store/store.ts'
import type { Clock } from './clock.ts'

/**
 * Group commit: whatever is waiting, of all threads of the process, goes into one transaction. While
 * one is under way the next one fills, so durability costs one flush per moment, not one per event.
 */
export interface Committer {
  submit(commit: PlannedCommit): Promise<CommitResult>
}

export type CommitResult = Exclude<AppendResult, { readonly kind: 'busy' }>

interface Waiting {
  readonly commit: PlannedCommit
  readonly since: number
  readonly resolve: (result: CommitResult) => void
  readonly reject: (error: unknown) => void
}

export interface CommitObserver {
  readonly committed: (appends: number, events: number, ms: number) => void
}

/** A thread whose row somebody holds is tried again after this; the others do not wait for it. */
const busyPauseMs = 20
/** So long may a row be held before its thread is told. */
const busyLimitMs = 10_000

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  let isDraining = false

  const enqueue = (waiting: Waiting) => {
    queue.push(waiting)
    if (isDraining) return
    isDraining = true
    clock.soon(() => void drain())
  }

  const drain = async () => {
    while (queue.length > 0) {
      const group = queue
      queue = []
      await commitGroup(group)
    }
    isDraining = false
  }

  const commitGroup = async (group: readonly Waiting[]) => {
    const started = clock.now()
    try {
      const results = await store.commit(group.map(({ commit }) => commit))
      for (const [index, waiting] of group.entries()) settle(waiting, results[index])
      const events = group.reduce((sum, { commit }) => sum + commit.size, 0)
      observer.committed(group.length, events, clock.now() - started)
    } catch (error) {
      // It is not known what was stored, and nothing may be written twice.
      for (const { reject } of group) reject(error)
    }
  }

  const settle = (waiting: Waiting, result: AppendResult | undefined) => {
    if (result === undefined) {
      waiting.reject(new HoldfastError('store-failed', 'The store gave no answer.'))
    } else if (result.kind !== 'busy') waiting.resolve(result)
    else if (clock.now() - waiting.since >= busyLimitMs) waiting.reject(heldFault())
    else clock.after(busyPauseMs, () => enqueue(waiting))
  }

  return {
    submit: (commit) =>
      new Promise((resolve, reject) => {
        enqueue({ commit, since: clock.now(), resolve, reject })
      }),
  }
}

const heldFault = () =>
  new HoldfastError(
    'store-locked',
    'Another process held the same rows for too long. Nothing was stored; try again.',
  )
