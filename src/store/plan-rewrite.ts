import type { NewEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { type AppendRefusal, isStale, type ThreadHead } from './lease.ts'
import {
  type ChangedMessageRow,
  type IllegalAppend,
  planInSteps,
  type PlannedCommit,
} from './plan-commit.ts'

/** A rewrite of the end of a thread: see `Store.rewriteThread`. */
export interface ThreadRewrite {
  readonly threadId: ThreadId
  /** Refused as `stale` unless this is the thread's seq. */
  readonly expectedSeq: Seq
  /** As with an append: refused as `stale` if the thread is another one under the same id (OP6). */
  readonly incarnation?: string | undefined
  /** The seq of a message: it and everything after it is removed. */
  readonly from: Seq
  /** The events to store in its place, in portions; a turn begins and ends within one portion. */
  readonly appends: readonly (readonly NewEvent[])[]
}
/** `leased`: a run holds the thread. An event that is not allowed is thrown as a fault. */
export type RewriteResult = 'rewritten' | 'stale' | 'leased'

/** The columns of the thread's row that a rewrite is compared with. */
export interface RewrittenHead extends Pick<ThreadHead, 'seq' | 'incarnation'> {
  /** A run holds the lease. */
  readonly isHeld: boolean
  /** Inputs wait: they would wait for a turn that is no longer there. */
  readonly hasQueue: boolean
}

/** The one rule of who may rewrite a thread; null: it may be rewritten. */
export function judgeRewrite(
  head: RewrittenHead,
  rewrite: ThreadRewrite,
): Exclude<RewriteResult, 'rewritten'> | null {
  if (isStale(head, rewrite)) return 'stale'
  return head.isHeld || head.hasQueue ? 'leased' : null
}

/** The commits of a rewrite, each on top of the one before it. */
export function planRewrite(rewrite: ThreadRewrite): readonly PlannedCommit[] {
  return runToEnd(planRewriteInSteps(rewrite))
}

/** The same with pauses: a rewrite may have a whole long thread in it (OP7b). */
export function* planRewriteInSteps({
  threadId,
  expectedSeq,
  appends,
}: ThreadRewrite): PausableWork<readonly PlannedCommit[]> {
  const commits: PlannedCommit[] = []
  let seq = expectedSeq
  for (const events of appends) {
    const planned = yield* planInSteps({ threadId, events, expectedSeq: seq })
    if ('kind' in planned) throw toRewriteFault(planned)
    seq += events.length
    commits.push(planned)
  }
  return yield* withLastVersions(commits)
}

/**
 * The same commits, with each list of versions written once: they are stored together, so only the last list of a message is
 * ever read. Otherwise the first of a hundred versions would be written a hundred times (OP7).
 */
function* withLastVersions(
  commits: readonly PlannedCommit[],
): PausableWork<readonly PlannedCommit[]> {
  const written = new Set<Seq>()
  const kept: PlannedCommit[] = []
  for (const commit of commits.toReversed()) {
    yield
    const changedMessages = commit.changedMessages.map((row) => {
      if (row.seq === null || row.versions === null) return row
      if (written.has(row.seq)) return { ...row, versions: null }
      written.add(row.seq)
      return row
    })
    const newMessages = commit.newMessages.map((row) =>
      written.has(row.seq) ? { ...row, versions: null } : row,
    )
    kept.push({ ...commit, newMessages, changedMessages: changedMessages.filter(hasChange) })
  }
  return kept.reverse()
}

const hasChange = ({ status, snapshot, retiredSeq, versions }: ChangedMessageRow): boolean =>
  status !== null || snapshot !== null || retiredSeq !== null || versions !== null

/** Events of a rewrite that are not allowed are a bug of its writer: nothing of the rewrite is stored. */
export function toRewriteFault(
  refusal: IllegalAppend | AppendRefusal | { readonly kind: 'busy' },
): HoldfastError {
  const what =
    refusal.kind === 'illegal'
      ? `the ${refusal.subject} ${refusal.id} is ${refusal.state} already`
      : refusal.kind
  return new HoldfastError('bad-event', `A thread cannot be rewritten so: ${what}.`)
}
