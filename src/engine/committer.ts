import { HoldfastError } from '../core/holdfast-error.ts'
import type { Append, AppendResult, Store } from '../store/store.ts'
import type { Clock } from './clock.ts'

/**
 * Group commit: whatever is waiting, of all threads of the process, goes into one transaction. While
 * one is under way the next one fills, so durability costs one flush per moment, not one per event.
 */
export interface Committer {
  submit(append: Append): Promise<AppendResult>
}

interface Waiting {
  readonly append: Append
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
}

export interface CommitObserver {
  readonly committed: (appends: number, events: number, ms: number) => void
}

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  let busy = false

  const drain = async () => {
    while (queue.length > 0) {
      const group = queue
      queue = []
      await commitGroup(group)
    }
    busy = false
  }

  const commitGroup = async (group: readonly Waiting[]) => {
    const started = clock.now()
    try {
      const results = await store.commit(group.map(({ append }) => append))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as AppendResult)
      const events = group.reduce((sum, { append }) => sum + append.events.length, 0)
      observer.committed(group.length, events, clock.now() - started)
    } catch (error) {
      // A malformed event is refused before anything is written, so the others can go on without it.
      // After any other fault it is not known what was stored, and nothing may be written twice.
      if (isMalformed(error) && group.length > 1) {
        for (const waiting of group) await commitGroup([waiting])
      } else {
        for (const { reject } of group) reject(error)
      }
    }
  }

  return {
    submit(append) {
      return new Promise((resolve, reject) => {
        queue.push({ append, resolve, reject })
        if (busy) return
        busy = true
        clock.soon(() => void drain())
      })
    },
  }
}

const isMalformed = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === 'bad-event'
