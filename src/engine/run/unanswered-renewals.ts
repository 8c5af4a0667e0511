import type { PlannedCommit } from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import type { Clock } from '../clock.ts'

/**
 * The renewals of leases that have no answer yet. A renewal is in no order with the other commits of its run: one that
 * overtakes them changes nothing of theirs, and one that they overtake is fenced, because the lease has been released or
 * acquired by then. So those that wait are sent again, together and apart from the groups: behind a commit that gets no
 * answer, all leases of the process would expire although it lives (CR2). A renewal may be written twice, so it need not be
 * known what became of the attempt before.
 */
export interface UnansweredRenewals<Waiting> {
  add(waiting: Waiting, leaseMs: number): void
  delete(waiting: Waiting): void
  /** Settles when what is in flight apart has been answered; undefined: nothing is. */
  inFlight(): Promise<unknown> | undefined
}

/**
 * A renewal without an answer is sent again after this part of its lease, which is renewed every third: so the second
 * attempt, and the third, come before the lease expires.
 */
const leasePart = 1 / 5
/** How many attempts may be in flight: each occupies a connection while the database does not respond. */
const mostInFlight = 2

export function createUnansweredRenewals<Waiting extends { readonly commit: PlannedCommit }>(
  store: Store,
  clock: Clock,
  onResult: (waiting: Waiting, result: Exclude<AppendResult, { readonly kind: 'busy' }>) => void,
): UnansweredRenewals<Waiting> {
  const unanswered = new Set<Waiting>()
  const attempts = new Set<Promise<void>>()
  let cancel: (() => void) | null = null

  const sendAgain = async () => {
    const group = [...unanswered]
    try {
      const results = await store.commit(group.map(({ commit }) => commit))
      for (const [index, waiting] of group.entries()) {
        const result = results[index]
        if (result !== undefined && result.kind !== 'busy') onResult(waiting, result)
      }
    } catch {
      // The attempt in the group goes on, and its result is the writer's.
    }
  }
  const sendAgainAfter = (ms: number) => {
    const send = () => {
      sendAgainAfter(ms)
      if (attempts.size >= mostInFlight) return
      const attempt = sendAgain().finally(() => attempts.delete(attempt))
      attempts.add(attempt)
    }
    cancel = clock.after(ms, send, true)
  }

  return {
    add(waiting, leaseMs) {
      unanswered.add(waiting)
      if (cancel === null) sendAgainAfter(Math.ceil(leaseMs * leasePart))
    },
    delete(waiting) {
      unanswered.delete(waiting)
      if (unanswered.size > 0) return
      cancel?.()
      cancel = null
    },
    inFlight: () => (attempts.size === 0 ? undefined : Promise.all(attempts)),
  }
}
