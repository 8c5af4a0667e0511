import { HoldfastError } from '../core/holdfast-error.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'
import type { AppendResult, Store } from '../store/store.ts'
import { type Clock, wait } from './clock.ts'

/**
 * Group commit: whatever is waiting, of all threads of the process, goes into one transaction. While
 * one is under way the next one fills, so durability costs one flush per moment, not one per event.
 *
 * When the store says that it took nothing and may take it later, or that it has to look for what it took, runs
 * wait: their writes are tried again until they go through or `patienceMs` is over. Whoever else writes is told at
 * once (LG3a).
 */
export interface Committer {
  submit(commit: PlannedCommit): Promise<CommitResult>
  /** This process is going: what does not get through now is given up. */
  stopWaiting(): void
  /** Whether what is written gets through, as far as anybody has tried. */
  readonly saving: 'ok' | 'interrupted'
  /** Why this process should be sent nobody at the moment; null: writes get through. */
  problem(): CommitProblem | null
}

/** `commits-waiting`: the oldest has waited for seconds; else what the store said when it was last written to. */
export type CommitProblem =
  | { readonly kind: 'commits-waiting'; readonly ms: number }
  | { readonly kind: 'fault'; readonly fault: HoldfastError }

export type CommitResult = Exclude<AppendResult, { readonly kind: 'busy' }>

interface Waiting {
  readonly commit: PlannedCommit
  readonly since: number
  readonly resolve: (result: CommitResult) => void
  readonly reject: (error: unknown) => void
  /** How often its thread was found held by somebody else. */
  busy: number
}

export interface CommitObserver {
  readonly committed: (appends: number, events: number, ms: number) => void
}

/** A write that takes longer than this is one that does not get through. */
const slowMs = 1_000
/** Behind a write that takes longer than this nobody but a run waits, and the server is not ready. */
const overdueMs = 3_000
/** How long a run waits for a store that takes nothing, before the turn is given up (LG3). */
const patienceMs = 60_000
const retryMs = 100
/** A thread whose row somebody holds is tried again after this, then after twice as long, up to the second. */
const [firstBusyPauseMs, longestBusyPauseMs] = [20, 500] as const
/** So long may a row be held before somebody who is not a run is told. */
const busyLimitMs = 5_000
/** A fault that nobody has met again for so long may be over: only the next write can tell. */
const faultMemoryMs = 15_000

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  const held = new Set<Waiting>()
  let isDraining = false
  /** When the write under way began. */
  let since: number | null = null
  let storedAt = Number.NEGATIVE_INFINITY
  let fault: { readonly error: HoldfastError; readonly at: number } | null = null
  /** Why the write under way is being tried again; null while it is the first try. */
  let retriedAfter: unknown = null
  const going = new AbortController()

  const enqueue = (waiting: Waiting) => {
    queue.push(waiting)
    if (isDraining) return
    isDraining = true
    clock.soon(() => void drain())
  }

  const drain = async () => {
    while (queue.length > 0) {
      // Those that somebody holds come by themselves: the others must not wait for the same locks again.
      // Told apart before either is written, or one that is found held now would be written twice.
      const fresh = queue.filter(({ busy }) => busy === 0)
      const triedBefore = queue.filter(({ busy }) => busy > 0)
      queue = []
      await commitGroup(fresh)
      await commitGroup(triedBefore)
    }
    isDraining = false
  }

  const commitGroup = async (group: readonly Waiting[]) => {
    if (group.length === 0) return
    const started = clock.now()
    since = started
    let left = group
    while (left.length > 0) {
      try {
        await commitOnce(left, started)
        break
      } catch (error) {
        left = await afterFault(left, error, started)
      }
    }
    since = null
    retriedAfter = null
  }

  const commitOnce = async (group: readonly Waiting[], started: number) => {
    const results = await store.commit(group.map(({ commit }) => commit))
    since = null
    if (results.some((result, index) => isStored(result, group[index]))) {
      storedAt = clock.now()
      fault = null
    } else if (fault?.error.code !== 'store-full') {
      // Nothing was written, so a disk that was full may be full still; any other fault is over.
      fault = null
    }
    for (const [index, waiting] of group.entries()) settle(waiting, results[index])
    const events = group.reduce((sum, { commit }) => sum + commit.size, 0)
    observer.committed(group.length, events, clock.now() - started)
  }

  const settle = (waiting: Waiting, result: AppendResult | undefined) => {
    held.delete(waiting)
    if (result === undefined) {
      waiting.reject(new HoldfastError('store-failed', 'The store gave no answer.'))
      return
    }
    if (result.kind !== 'busy') {
      waiting.resolve(result)
      return
    }
    const limitMs = isOfRun(waiting) && !going.signal.aborted ? patienceMs : busyLimitMs
    if (clock.now() - waiting.since >= limitMs) {
      waiting.reject(heldFault())
      return
    }
    held.add(waiting)
    const pauseMs = Math.min(firstBusyPauseMs * 2 ** waiting.busy, longestBusyPauseMs)
    waiting.busy++
    clock.after(pauseMs, () => enqueue(waiting))
  }

  /** Whose writes are tried again. */
  const afterFault = async (
    group: readonly Waiting[],
    error: unknown,
    started: number,
  ): Promise<readonly Waiting[]> => {
    if (isFault(error)) fault = { error, at: clock.now() }
    const isOver = going.signal.aborted || clock.now() - started >= patienceMs
    const isPatient = isFault(error) && (error.isTemporary || error.isInDoubt) && !isOver
    const patient = isPatient ? group.filter(isOfRun) : []
    // Otherwise it is not known what was stored, and nothing may be written twice.
    for (const waiting of group) {
      if (patient.includes(waiting)) continue
      held.delete(waiting)
      waiting.reject(error)
    }
    if (patient.length === 0) return []
    retriedAfter = error
    // Nor can those wait who came meanwhile, unless they are runs.
    refuseQueued(unstoredFault(error))
    await wait(clock, retryMs, going.signal)
    return patient
  }

  /** Of these nothing has been given to the store yet. */
  const refuseQueued = (error: HoldfastError) => {
    const behind = queue
    queue = behind.filter(isOfRun)
    for (const waiting of behind) {
      if (isOfRun(waiting)) continue
      held.delete(waiting)
      waiting.reject(error)
    }
  }

  const currentFault = (): HoldfastError | null => {
    if (fault === null) return null
    return since !== null || clock.now() - fault.at < faultMemoryMs ? fault.error : null
  }

  /** How long the oldest that is not held by a lock of its own has waited. */
  const waitingMs = (): number => (since === null ? 0 : clock.now() - since)
  /** How long threads have been held by others, where nothing else got through meanwhile either. */
  const heldMs = (least: number): number => {
    if (held.size < least) return 0
    const oldest = Math.min(...[...held].map((waiting) => waiting.since))
    return storedAt >= oldest ? 0 : clock.now() - oldest
  }

  return {
    stopWaiting: () => going.abort(),
    get saving() {
      const isSlow = waitingMs() >= slowMs || heldMs(1) >= slowMs
      return currentFault() !== null || isSlow ? 'interrupted' : 'ok'
    },
    problem() {
      const found = currentFault()
      if (found !== null) return { kind: 'fault', fault: found }
      const ms = Math.max(waitingMs(), heldMs(2))
      return ms >= overdueMs ? { kind: 'commits-waiting', ms } : null
    },
    submit: (commit) =>
      new Promise((resolve, reject) => {
        const waiting = { commit, since: clock.now(), resolve, reject, busy: 0 }
        if (isOfRun(waiting) || since === null) enqueue(waiting)
        // Behind a write that is being tried again, or gets no answer, nobody but a run can wait.
        else if (retriedAfter !== null) reject(unstoredFault(retriedAfter))
        else if (waitingMs() >= overdueMs) reject(overdueFault())
        else enqueueBehind(waiting)
      }),
  }

  /** Refused if the write that is under way now does not end in time. */
  function enqueueBehind(waiting: Waiting) {
    const cancel = clock.after(overdueMs - waitingMs(), () => {
      if (waitingMs() >= overdueMs) refuseQueued(overdueFault())
    })
    enqueue({
      ...waiting,
      resolve: (result) => {
        cancel()
        waiting.resolve(result)
      },
      reject: (error) => {
        cancel()
        waiting.reject(error)
      },
    })
  }
}

const isStored = (result: AppendResult, waiting: Waiting | undefined): boolean =>
  result.kind === 'appended' && waiting !== undefined && waiting.commit.size > 0

/** A run holds the lease already; whoever is about to take it, or has none, is a person who waits for an answer. */
const isOfRun = ({ commit: { append } }: Pick<Waiting, 'commit'>): boolean =>
  append.lease?.kind === 'hold' || append.lease?.kind === 'release'

const isFault = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code.startsWith('store-') && error.code !== 'store-closed'

const heldFault = () =>
  new HoldfastError(
    'store-locked',
    'Another process held the same rows for too long. Nothing was stored; try again.',
    { isTemporary: true },
  )

const overdueFault = () =>
  new HoldfastError(
    'store-unreachable',
    'The database has not answered for a while. Nothing was stored; try again.',
    { isTemporary: true },
  )

/** For somebody whose own write was never tried: of that nothing can be in doubt. */
const unstoredFault = (error: unknown): HoldfastError =>
  error instanceof HoldfastError && !error.isInDoubt
    ? error
    : new HoldfastError('store-unreachable', 'The database cannot be reached right now.', {
        cause: error,
        isTemporary: true,
      })
