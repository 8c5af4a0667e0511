import type { NewEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { AppendRefusal } from './lease.ts'
import { type IllegalAppend, planCommit, type PlannedCommit } from './plan-commit.ts'

export interface ThreadRewrite {
  readonly threadId: ThreadId
  /** Refused as `stale` unless the thread stands exactly here. */
  readonly expectedSeq: Seq
  /** The number of a message: it and all that comes after it is taken out. */
  readonly from: Seq
  /** What is to stand there instead, in portions; a turn begins and ends in one of them. */
  readonly appends: readonly (readonly NewEvent[])[]
}
/** `leased`: somebody is answering in it. An event that may not happen is a fault. */
export type RewriteResult = 'rewritten' | 'stale' | 'leased'

/** The commits of a rewrite, each on top of the one before. */
export function planRewrite({
  threadId,
  expectedSeq,
  appends,
}: ThreadRewrite): readonly PlannedCommit[] {
  let seq = expectedSeq
  return appends.map((events) => {
    const planned = planCommit({ threadId, events, expectedSeq: seq })
    if ('kind' in planned) throw toRewriteFault(planned)
    seq += events.length
    return planned
  })
}

/** A rewrite whose events do not go together is a mistake of its writer: nothing of it is stored. */
export function toRewriteFault(
  refusal: IllegalAppend | AppendRefusal | { readonly kind: 'busy' },
): HoldfastError {
  const what =
    refusal.kind === 'illegal'
      ? `the ${refusal.subject} ${refusal.id} is ${refusal.state} already`
      : refusal.kind
  return new HoldfastError('bad-event', `A thread cannot be rewritten so: ${what}.`)
}
