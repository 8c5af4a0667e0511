import { HoldfastError } from '../../core/holdfast-error.ts'
import type { ThreadId } from '../../core/ids.ts'
import { firstCommits, isLong } from '../../store/commit-group.ts'
import { planCommit, type PlannedCommit } from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import { type Clock, elapsedMs, wait } from '../clock.ts'
import { heldFault, isFault, overdueFault, toErrorInDoubt, unstoredFault } from './commit-faults.ts'
import { createLargeGate, type EnterLarge, type LargePlace } from './large-commits.ts'
import { createRoomProbe } from './room-probe.ts'
import { createUnansweredRenewals } from './unanswered-renewals.ts'

/**
 * Group commit: of all threads of the process, the first commit that is waiting goes into one transaction. While one
 * transaction is in flight the next group fills, so durability costs one flush per group, not one per event. A commit of
 * thousands of rows or of large results has a transaction of its own beside the groups, and a group is no larger than one
 * that is quickly written: in one of them such a commit would hold up those of everybody else (OP7).
 *
 * When the store reports that nothing was stored and a retry may succeed, or that it is in doubt what was stored,
 * the writes of runs are retried until they succeed or `patienceMs` has passed. Every other writer gets the error
 * at once (LG3a).
 *
 * The renewal of a lease is part of a group too, but does not depend on it: one without an answer is sent again apart
 * from the groups (CR2).
 */
export interface Committer {
  /**
   * @param writer `run`: the commit is retried as those of runs are. @default by its lease: whoever holds one already is
   * retried, because an error would leave a lease behind that nobody works under; all others wait for the response
   * @param place of a large commit, for its first attempt; it is left here
   */
  submit(commit: PlannedCommit, writer?: 'run', place?: LargePlace | null): Promise<CommitResult>
  readonly enterLarge: EnterLarge
  /** The process is shutting down: a write that does not succeed now is rejected instead of retried. */
  stopWaiting(): void
  /** Whether writes succeed, as of the last attempt. */
  readonly saving: 'ok' | 'interrupted'
  /** Why a load balancer should send no requests to this process at the moment; null: writes succeed. */
  problem(): CommitProblem | null
  /** Rejects with the store's error unless a write that takes room succeeds: see `createRoomProbe`. */
  assertRoom(threadId: ThreadId): Promise<void>
}

/** `commits-waiting`: the oldest commit has waited for seconds; `fault`: the error of the last write. */
export type CommitProblem =
  | { readonly kind: 'commits-waiting'; readonly ms: number }
  | { readonly kind: 'fault'; readonly fault: HoldfastError }

export type CommitResult = Exclude<AppendResult, { readonly kind: 'busy' }>

interface Waiting {
  readonly commit: PlannedCommit
  readonly since: number
  /** Whether it is retried (LG3a). */
  readonly isPatient: boolean
  readonly resolve: (result: CommitResult) => void
  readonly reject: (error: unknown) => void
  /** How often another transaction held the lock on its thread's row. */
  busy: number
  /** An attempt got no answer: it may be stored, or may still be. */
  isInDoubt: boolean
  /** Of a large commit; each attempt has one of its own. */
  place: LargePlace | null
  /** Its writer has the result. An attempt may still be in flight, or queued: only of a renewal. */
  isSettled: boolean
}

export interface CommitObserver {
  readonly committed: (appends: number, events: number, ms: number) => void
}

/** A write in flight for longer than this counts as interrupted. */
const slowMs = 1_000
/** Only runs may queue behind a write that takes longer than this, and the server reports that it is not ready. */
const overdueMs = 3_000
/** How long a run retries while the store cannot be written, before its turn fails (LG3). */
const patienceMs = 60_000
const retryMs = 100
/** A thread whose row is locked is retried after the first pause, then after twice as long, up to the longest. */
const [firstBusyPauseMs, longestBusyPauseMs] = [20, 500] as const
/** How long a row may stay locked before a writer that is not a run gets an error. */
const busyLimitMs = 5_000
/** A fault that has not recurred for this long may be over. Only a write can show it, so one is made if nobody else does. */
const faultMemoryMs = 15_000

export function createCommitter(store: Store, clock: Clock, observer: CommitObserver): Committer {
  let queue: Waiting[] = []
  /** Taken from the queue, to be written after the group in flight. */
  let nextGroup: readonly Waiting[] = []
  const held = new Set<Waiting>()
  let isDraining = false
  /** When the write in flight began. */
  let since: number | null = null
  let storedAt = Number.NEGATIVE_INFINITY
  let fault: { readonly error: HoldfastError; readonly at: number; readonly of: ThreadId } | null =
    null
  let isLookingAgain = false
  /** Why the write in flight is being retried; null during the first attempt. */
  let retriedAfter: unknown = null
  /** Set while commits that are not of runs wait for the write in flight. */
  let cancelOverdue: (() => void) | null = null
  const going = new AbortController()
  const enterLarge = createLargeGate(clock, patienceMs, going.signal)
  const probeRoom = createRoomProbe(store, clock)

  const close = (waiting: Waiting) => {
    waiting.isSettled = true
    waiting.place?.leave()
    held.delete(waiting)
    renewals.delete(waiting)
  }
  const resolve = (waiting: Waiting, result: CommitResult) => {
    close(waiting)
    waiting.resolve(result)
  }
  const reject = (waiting: Waiting, error: unknown) => {
    close(waiting)
    waiting.reject(waiting.isInDoubt ? toErrorInDoubt(error) : error)
  }
  const renewals = createUnansweredRenewals<Waiting>(store, clock, resolve)

  const enqueue = (waiting: Waiting) => {
    if (isApart(waiting)) {
      void commitApart(waiting)
      return
    }
    queue.push(waiting)
    if (isDraining) return
    isDraining = true
    clock.soon(() => void drain())
  }

  const drain = async () => {
    while (queue.length > 0) {
      // Commits whose row was locked before go into a group of their own, or the fresh ones would wait for the same
      // locks again. Both groups are taken from the queue before either is written: a fresh commit that turns out
      // to be locked re-enters the queue, and would otherwise be in both.
      const { first, later } = firstOfEachThread(queue.filter(isOpen))
      const group = firstCommits(first, ({ commit }) => commit)
      const fresh = group.filter(({ busy }) => busy === 0)
      const triedBefore = group.filter(({ busy }) => busy > 0)
      queue = [...first.slice(group.length), ...later]
      nextGroup = triedBefore
      await commitGroup(fresh)
      // Some were refused, if the write before took too long.
      const open = nextGroup.filter(isOpen)
      nextGroup = []
      await commitGroup(open)
    }
    isDraining = false
  }

  const commitGroup = async (group: readonly Waiting[]) => {
    if (group.length === 0) return
    const started = elapsedMs(clock)
    since = started
    refuseWhenOverdue()
    let left = group
    while (left.length > 0) {
      try {
        const results = await store.commit(left.map(({ commit }) => commit))
        since = null
        finish(left, results, started)
        break
      } catch (error) {
        left = await afterFault(left, error, started, () => {
          retriedAfter = error
          // Commits that were queued meanwhile cannot wait for the retry either, unless they belong to runs.
          refuseQueued(unstoredFault(error))
        })
      }
    }
    since = null
    retriedAfter = null
    cancelOverdue?.()
    cancelOverdue = null
  }

  const commitApart = async (waiting: Waiting) => {
    let left: readonly Waiting[] = [waiting]
    while (left.length > 0) {
      const started = elapsedMs(clock)
      try {
        const results = await store.commit([waiting.commit])
        renewAcquired(waiting.commit, results[0])
        finish(left, results, started)
        return
      } catch (error) {
        waiting.place?.leave()
        left = await afterFault(left, error, waiting.since)
        if (left.length > 0) await enterAgain(waiting)
      }
      left = left.filter(isOpen)
    }
  }

  const enterAgain = async (waiting: Waiting) => {
    if (waiting.place === null) return
    const { ownerId, since: from } = waiting.place
    try {
      waiting.place = await enterLarge(ownerId, from)
    } catch (error) {
      reject(waiting, error)
    }
  }

  /**
   * The store counts a lease from when it writes the thread's row, which is early in a commit of thousands of rows: when
   * others see the commit, the lease may have expired, and before the run's first renewal another server would take the
   * run over although nobody died (CR2).
   */
  const renewAcquired = ({ append }: PlannedCommit, result: AppendResult | undefined) => {
    const { threadId, lease } = append
    const fence = result?.kind === 'appended' ? result.fence : undefined
    if (lease?.kind !== 'acquire' || fence === undefined) return
    const renewal = { kind: 'hold', fence, renewMs: lease.ttlMs } as const
    const planned = planCommit({ threadId, events: [], lease: renewal })
    // The run renews its lease from now on, and finds whatever is wrong with it.
    if (!('kind' in planned)) submit(planned, 'run').catch(() => {})
  }

  const finish = (
    group: readonly Waiting[],
    results: readonly AppendResult[],
    started: number,
  ): void => {
    if (results.some((result, index) => isStored(result, group[index]))) {
      storedAt = elapsedMs(clock)
      fault = null
    } else if (fault?.error.code !== 'store-full') {
      // Nothing was written, so a disk that was full may still be full; any other fault is over.
      fault = null
    }
    for (const [index, waiting] of group.entries()) settle(waiting, results[index])
    const events = group.reduce((sum, { commit }) => sum + commit.size, 0)
    observer.committed(group.length, events, elapsedMs(clock) - started)
  }

  const settle = (waiting: Waiting, result: AppendResult | undefined) => {
    if (result === undefined) {
      reject(waiting, new HoldfastError('store-failed', 'The store did not respond.'))
      return
    }
    if (result.kind !== 'busy') {
      resolve(waiting, result)
      return
    }
    if (waiting.isSettled) return
    if (result.isInDoubt === true) waiting.isInDoubt = true
    const limitMs = waiting.isPatient && !going.signal.aborted ? patienceMs : busyLimitMs
    if (elapsedMs(clock) - waiting.since >= limitMs) {
      reject(waiting, heldFault())
      return
    }
    held.add(waiting)
    waiting.place?.leave()
    const pauseMs = Math.min(firstBusyPauseMs * 2 ** waiting.busy, longestBusyPauseMs)
    waiting.busy++
    clock.after(pauseMs, () => void tryAgain(waiting))
  }

  const tryAgain = async (waiting: Waiting) => {
    await enterAgain(waiting)
    if (isOpen(waiting)) queueUp(waiting)
  }

  /** Returns the commits that are to be retried; all others are rejected. */
  const afterFault = async (
    group: readonly Waiting[],
    error: unknown,
    started: number,
    onRetry: () => void = () => {},
  ): Promise<readonly Waiting[]> => {
    const [first] = group
    if (isFault(error) && first !== undefined) {
      fault = { error, at: elapsedMs(clock), of: first.commit.append.threadId }
    }
    const isOver = going.signal.aborted || elapsedMs(clock) - started >= patienceMs
    const isRetried = isFault(error) && (error.isTemporary || error.isInDoubt) && !isOver
    const patient = isRetried ? group.filter(({ isPatient }) => isPatient).filter(isOpen) : []
    // All others are rejected: a person gets the error at once, and after any other fault it is not known what was stored,
    // so a retry might write it twice.
    for (const waiting of group) if (!patient.includes(waiting)) reject(waiting, error)
    if (patient.length === 0) return []
    if (isFault(error) && error.isInDoubt) for (const waiting of patient) waiting.isInDoubt = true
    onRetry()
    await wait(clock, retryMs, going.signal)
    return patient
  }

  /** Commits that are not of runs, and are not in flight: nothing of them is being stored. */
  const queuedByPersons = () =>
    [...nextGroup, ...queue].filter((one) => !one.isPatient && isOpen(one))

  const refuseQueued = (error: HoldfastError) => {
    for (const waiting of queuedByPersons()) reject(waiting, error)
  }

  /** A person who waits behind a write that does not end is refused in time, whenever and however the commit was queued. */
  const refuseWhenOverdue = () => {
    if (cancelOverdue !== null || queuedByPersons().length === 0) return
    cancelOverdue = clock.after(overdueMs - waitingMs(), () => {
      cancelOverdue = null
      refuseQueued(overdueFault())
    })
  }

  /** Looks again now and then: whoever asks is a follower, or a load balancer, and must not be told that all is well. */
  const currentFault = (): HoldfastError | null => {
    if (fault === null) return null
    const isOld = since === null && elapsedMs(clock) - fault.at >= faultMemoryMs
    // A commit of nothing is stored on a full disk too: only one with rows shows whether there is room.
    if (isOld && fault.error.code === 'store-full') return null
    if (isOld && !isLookingAgain && !going.signal.aborted) void lookAgain(fault.of)
    return fault.error
  }

  /** A commit of nothing. Its result settles the fault, as that of any other does: see `finish` and `afterFault`. */
  const lookAgain = async (threadId: ThreadId) => {
    const planned = planCommit({ threadId, events: [] })
    if ('kind' in planned) return
    isLookingAgain = true
    await submit(planned).catch(() => {})
    isLookingAgain = false
  }

  /** How long the write in flight has taken; commits that wait for a row lock of their own are not counted. */
  const waitingMs = (): number => (since === null ? 0 : elapsedMs(clock) - since)
  /** How long the oldest commit has waited for a row lock, if nothing else was stored meanwhile. */
  const heldMs = (least: number): number => {
    if (held.size < least) return 0
    const oldest = Math.min(...[...held].map((waiting) => waiting.since))
    return storedAt >= oldest ? 0 : elapsedMs(clock) - oldest
  }

  return {
    stopWaiting: () => going.abort(),
    get saving() {
      const isSlow = waitingMs() >= slowMs || heldMs(1) >= slowMs
      return currentFault() !== null || isSlow ? 'interrupted' : 'ok'
    },
    problem() {
      // This fault does not expire: time alone frees no room on a disk. The caller tests it with `assertRoom`.
      const found = fault?.error.code === 'store-full' ? fault.error : currentFault()
      if (found !== null) return { kind: 'fault', fault: found }
      const ms = Math.max(waitingMs(), heldMs(2))
      return ms >= overdueMs ? { kind: 'commits-waiting', ms } : null
    },
    async assertRoom(threadId) {
      await probeRoom(threadId)
      if (fault?.error.code === 'store-full') fault = null
    },
    submit,
    enterLarge,
  }

  function submit(
    commit: PlannedCommit,
    writer?: 'run',
    place: LargePlace | null = null,
  ): Promise<CommitResult> {
    const { promise, ...settlers } = Promise.withResolvers<CommitResult>()
    const waiting: Waiting = {
      commit,
      since: place?.since ?? elapsedMs(clock),
      place,
      isPatient: writer === 'run' || holdsLease(commit),
      ...settlers,
      busy: 0,
      isInDoubt: false,
      isSettled: false,
    }
    const renewMs = renewalOf(commit)
    const apart = renewMs === 0 ? renewals.inFlight() : undefined
    if (apart !== undefined) {
      // A renewal that is stored after the hand-over would make the lease bind again, and where the store sees which
      // processes live, for as long as this one does.
      void apart.then(() => enqueue(waiting))
      return promise
    }
    if (renewMs !== undefined && renewMs > 0) renewals.add(waiting, renewMs)
    queueUp(waiting)
    return promise
  }

  function queueUp(waiting: Waiting) {
    if (waiting.isPatient || since === null) enqueue(waiting)
    // Behind a write that is being retried, or gets no response, only runs may wait.
    else if (retriedAfter !== null) reject(waiting, unstoredFault(retriedAfter))
    else if (waitingMs() >= overdueMs) reject(waiting, overdueFault())
    else {
      enqueue(waiting)
      refuseWhenOverdue()
    }
  }
}

/**
 * A store may need a statement for each further commit of a thread, and all others of the group would wait for hundreds of
 * them that one person has sent at once (OP7).
 */
function firstOfEachThread(queue: readonly Waiting[]): {
  readonly first: readonly Waiting[]
  readonly later: Waiting[]
} {
  const threads = new Set<ThreadId>()
  const [first, later]: [Waiting[], Waiting[]] = [[], []]
  for (const waiting of queue) {
    const { threadId } = waiting.commit.append
    ;(threads.has(threadId) ? later : first).push(waiting)
    threads.add(threadId)
  }
  return { first, later }
}

const isStored = (result: AppendResult, waiting: Waiting | undefined): boolean =>
  result.kind === 'appended' && waiting !== undefined && waiting.commit.size > 0

const isOpen = ({ isSettled }: Waiting): boolean => !isSettled

const holdsLease = ({ append: { lease } }: PlannedCommit): boolean =>
  lease?.kind === 'hold' || lease?.kind === 'release'

/** For how long a commit renews its lease, where it does nothing else. 0: it hands its run over. */
const renewalOf = ({ size, append: { lease } }: PlannedCommit): number | undefined =>
  size === 0 && lease?.kind === 'hold' ? lease.renewMs : undefined

/** It is the only commit of its writer for the time being, and so in no order with others. */
const isApart = ({ commit }: Waiting): boolean => isLong([commit])
