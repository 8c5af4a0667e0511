import { assertNever } from '../../core/assert-never.ts'
import type { AppendPlan } from '../plan-append.ts'
import type { Append, LeaseUse } from '../store.ts'
import type { AppendContext } from './check-lease.ts'
import { insertThread, isUnborn } from './create-thread.ts'
import type { LeaseRow } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

/**
 * The thread's row as the append leaves it. All of it is one write: each would rewrite the row and the
 * indexes that it names, and a turn that begins or ends changes nearly everything there is.
 */
export function writeThread(
  statements: LedgerStatements,
  place: LeaseRow,
  { threadId, create, lease: use }: Append,
  { size, activityAt, title }: AppendPlan,
  { now, nextCounter }: AppendContext,
): LeaseRow {
  const seq = place.seq + size
  if (isUnborn(place) && create !== undefined) {
    const counter = nextCounter()
    const row = useLease(place, use, counter, now)
    const born = { id: threadId, ...create, title: title ?? create.title }
    const thread = insertThread(statements, born, { ...row, seq, counter, activityAt })
    return { ...row, thread }
  }
  const { thread } = place
  if (title !== null) statements.renameThread.run(title, thread)
  if (activityAt !== null || use?.kind === 'acquire' || use?.kind === 'release') {
    const counter = nextCounter()
    const row = useLease(place, use, counter, now)
    const { fence, holder, turnId, until, stopFence } = row
    const activity = activityAt === null ? null : counter
    const lease = { fence, holder, turnId, until, stopFence }
    statements.changeThread.run({ thread, seq, counter, activity, activityAt, ...lease })
    return row
  }
  if (size > 0) statements.advanceThread.run(seq, nextCounter(), thread)
  const row = useLease(place, use, 0, now)
  if (row !== place) statements.renewLease.run(row.until, thread)
  return row
}

/** The lease as it is once the use that `checkLease` allowed has been written. */
function useLease(
  row: LeaseRow,
  use: LeaseUse | undefined,
  counter: number,
  now: () => number,
): LeaseRow {
  switch (use?.kind) {
    case undefined:
      return row
    case 'acquire': {
      const { holder, turnId, ttlMs } = use
      // Of the whole store: a thread that is made anew under an old id does not begin again.
      const fence = Math.max(row.fence + 1, counter)
      return { ...row, fence, holder, turnId, until: Math.ceil(now() + ttlMs), stopFence: null }
    }
    case 'hold':
      return use.renewMs === undefined ? row : { ...row, until: Math.ceil(now() + use.renewMs) }
    case 'release':
      return { ...row, holder: null, turnId: null, until: null }
    default:
      return assertNever(use)
  }
}
