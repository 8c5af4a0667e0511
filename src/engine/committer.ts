import { HoldfastError } from '../core/holdfast-error.ts'
import type { Append, AppendResult, Store } from '../store/store.ts'
import { type Clock, wait } from './clock.ts'

/**
 * Group commit: whatever is waiting, of all threads of the process, goes into one transaction. While
 * one is under way the next one fills, so durability costs one flush per moment, not one per event.
 *
 * When the store says that it took nothing and may take it later, runs wait: their writes are tried again until
 * they go through or `patienceMs` is over. Whoever else writes is told at once, and has changed nothing (LG3a).
 */
export interface Committer {
  submit(append: Append): Promise<AppendResult>
  /** This process is going: what does not get through now is given up. */
  stopWaiting(): void
  /** Whether what is written gets through, as far as anybody has tried. */
  readonly saving: 'ok' | 'interrupted'
}

interface Waiting {
  readonly append: Append
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
}

export interface CommitObserver {
  readonly committed: (appends: number, events: number, ms: number) => void
}

/** A write that takes longer than this is one that does not get through. */
const slowMs = 1_000
/** How long a run waits for a store that takes nothing, before the turn is given up (LG3). */
const patienceMs = 60_000
const retryMs = 100

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  let busy = false
  /** When the write under way began. */
  let since: number | null = null
  let fault: HoldfastError | null = null
  const going = new AbortController()

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
    since = started
    let left = group
    while (left.length > 0) {
      try {
        await commitOnce(left, started)
        return
      } catch (error) {
        left = await afterFault(left, error, started)
      }
    }
    since = null
  }

  const commitOnce = async (group: readonly Waiting[], started: number) => {
    const results = await store.commit(group.map(({ append }) => append))
    since = null
    fault = null
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as AppendResult)
    const events = group.reduce((sum, { append }) => sum + append.events.length, 0)
    observer.committed(group.length, events, clock.now() - started)
  }

  /** Whose writes are tried again. */
  const afterFault = async (
    group: readonly Waiting[],
    error: unknown,
    started: number,
  ): Promise<readonly Waiting[]> => {
    // A malformed event is refused before anything is written, so the others can go on without it.
    if (isMalformed(error) && group.length > 1) {
      for (const waiting of group) await commitGroup([waiting])
      return []
    }
    if (isFault(error)) fault = error
    const isOver = going.signal.aborted || clock.now() - started >= patienceMs
    const isPatient = isFault(error) && error.isTemporary && !isOver
    const patient = isPatient ? group.filter(({ append }) => isOfRun(append)) : []
    for (const waiting of group) if (!patient.includes(waiting)) waiting.reject(error)
    if (patient.length === 0) return []
    // Nor can those wait who came meanwhile, unless they are runs.
    const behind = queue
    queue = behind.filter(({ append }) => isOfRun(append))
    for (const { append, reject } of behind) if (!isOfRun(append)) reject(error)
    await wait(clock, retryMs, going.signal)
    return patient
  }

  return {
    stopWaiting: () => going.abort(),
    get saving() {
      const isSlow = since !== null && clock.now() - since >= slowMs
      return fault !== null || isSlow ? 'interrupted' : 'ok'
    },
    submit(append) {
      return new Promise((resolve, reject) => {
        // Behind a write that is being tried again nobody but a run can wait.
        if (fault !== null && since !== null && !isOfRun(append)) {
          reject(fault)
          return
        }
        queue.push({ append, resolve, reject })
        if (busy) return
        busy = true
        clock.soon(() => void drain())
      })
    },
  }
}

/** A run holds the lease already; whoever is about to take it, or has none, is a person who waits for an answer. */
const isOfRun = ({ lease }: Append): boolean => lease?.kind === 'hold' || lease?.kind === 'release'

const isFault = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code.startsWith('store-') && error.code !== 'store-closed'

const isMalformed = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === 'bad-event'
