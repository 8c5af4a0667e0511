import type { FileId } from '../core/file.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import type { RowChange } from '../store/audit.ts'

/** Every known kind of damage. docs/guides/check.md explains each. */
export type ProblemKind =
  | 'damaged-file'
  | 'seq-gap'
  | 'seq-overlap'
  | 'thread-seq'
  | 'queue-differs'
  | 'stuck-queue'
  | 'parent-differs'
  | 'versions-differ'
  | 'shared-turn'
  | 'empty-id'
  | 'stuck-turn'
  | 'stale-lease'
  | 'open-call'
  | 'ghost-call'
  | 'missing-call'
  | 'missing-result'
  | 'double-result'
  | 'false-unknown'
  | 'life-differs'
  | 'status-differs'
  | 'leftover-events'
  | 'hidden-events'
  | 'orphan-call'
  | 'orphan-event'
  | 'orphan-rows'
  | 'unreadable-body'
  | 'unreadable-event'
  | 'unreadable-json'
  | 'missing-file-use'
  | 'unnamed-file-use'

/** One problem of a check, and how it can be repaired. */
export interface Problem {
  readonly kind: ProblemKind
  /** Null where it belongs to no thread. */
  readonly threadId: string | null
  readonly messageId?: MessageId
  readonly callId?: CallId
  readonly seq?: Seq
  readonly fileId?: FileId
  /** What is wrong, for people. */
  readonly what: string
  /** What `repair` does about it. */
  readonly mend: Mend
}

/** How a problem is repaired; `none`: it cannot be. */
export type Mend =
  | { readonly kind: 'rows'; readonly changes: readonly RowChange[] }
  /** Ended by an append, as by a server that takes the turn over and does not continue it. */
  | { readonly kind: 'close-turn'; readonly turnId: MessageId }
  /** Held by an append, so that a person can release it. */
  | { readonly kind: 'hold-queue' }
  | { readonly kind: 'release-lease'; readonly turnId: MessageId }
  | { readonly kind: 'remove-orphans'; readonly key: string }
  | { readonly kind: 'none' }

/** Whether two passes found the same problem. */
export const isSameProblem = (left: Problem, right: Problem): boolean =>
  left.kind === right.kind &&
  left.threadId === right.threadId &&
  left.messageId === right.messageId &&
  left.callId === right.callId &&
  left.seq === right.seq &&
  left.fileId === right.fileId
