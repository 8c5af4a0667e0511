import { HoldfastError } from '../core/holdfast-error.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'
import type { AppendResult, Store } from '../store/store.ts'
import { type Clock, wait } from './clock.ts'

/**
 * Group commit: whatever is waiting, of all threads of the process, goes into one transaction. While
 * one is under way the next one fills, so durability costs one flush per moment, not one per event.
 *
 * When the store says that it took nothing and may take it later, runs wait: their writes are tried again until
 * they go through or `patienceMs` is over. Whoever else writes is told at once, and has changed nothing (LG3a).
 */
export interface Committer {
  submit(commit: PlannedCommit): Promise<CommitResult>
  /** This process is going: what does not get through now is given up. */
  stopWaiting(): void
  /** Whether what is written gets through, as far as anybody has tried. */
  readonly saving: 'ok' | 'interrupted'
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

/** A write that takes longer than this is one that does not get through. */
const slowMs = 1_000
/** How long a run waits for a store that takes nothing, before the turn is given up (LG3). */
const patienceMs = 60_000
const retryMs = 100
/** A thread whose row somebody holds is tried again after this; the others do not wait for it. */
const busyPauseMs = 20
/** So long may a row be held before its thread is told. */
const busyLimitMs = 10_000

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  let isDraining = false
  /** When the write under way began. */
  let since: number | null = null
  let fault: HoldfastError | null = null
  const going = new AbortController()

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
    const results = await store.commit(group.map(({ commit }) => commit))
    since = null
    fault = null
    for (const [index, waiting] of group.entries()) settle(waiting, results[index])
    const events = group.reduce((sum, { commit }) => sum + commit.size, 0)
    observer.committed(group.length, events, clock.now() - started)
  }

  const settle = (waiting: Waiting, result: AppendResult | undefined) => {
    if (result === undefined) {
      waiting.reject(new HoldfastError('store-failed', 'The store gave no answer.'))
    } else if (result.kind !== 'busy') waiting.resolve(result)
    else if (clock.now() - waiting.since >= busyLimitMs) waiting.reject(heldFault())
    else clock.after(busyPauseMs, () => enqueue(waiting))
  }

  /** Whose writes are tried again. */
  const afterFault = async (
    group: readonly Waiting[],
    error: unknown,
    started: number,
  ): Promise<readonly Waiting[]> => {
    if (isFault(error)) fault = error
    const isOver = going.signal.aborted || clock.now() - started >= patienceMs
    const isPatient = isFault(error) && error.isTemporary && !isOver
    const patient = isPatient ? group.filter(isOfRun) : []
    // Otherwise it is not known what was stored, and nothing may be written twice.
    for (const waiting of group) if (!patient.includes(waiting)) waiting.reject(error)
    if (patient.length === 0) return []
    // Nor can those wait who came meanwhile, unless they are runs.
    const behind = queue
    queue = behind.filter(isOfRun)
    for (const waiting of behind) if (!isOfRun(waiting)) waiting.reject(error)
    await wait(clock, retryMs, going.signal)
    return patient
  }

  return {
    stopWaiting: () => going.abort(),
    get saving() {
      const isSlow = since !== null && clock.now() - since >= slowMs
      return fault !== null || isSlow ? 'interrupted' : 'ok'
    },
    submit: (commit) =>
      new Promise((resolve, reject) => {
        const waiting = { commit, since: clock.now(), resolve, reject }
        // Behind a write that is being tried again nobody but a run can wait.
        if (fault !== null && since !== null && !isOfRun(waiting)) reject(fault)
        else enqueue(waiting)
      }),
  }
}

/** A run holds the lease already; whoever is about to take it, or has none, is a person who waits for an answer. */
const isOfRun = ({ commit: { append } }: Pick<Waiting, 'commit'>): boolean =>
  append.lease?.kind === 'hold' || append.lease?.kind === 'release'

const isFault = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code.startsWith('store-') && error.code !== 'store-closed'

const heldFault = () =>
  new HoldfastError(
    'store-locked',
    'Another process held the same rows for too long. Nothing was stored; try again.',
  )
