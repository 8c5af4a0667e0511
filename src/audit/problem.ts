import type { CallId, MessageId, Seq } from '../core/ids.ts'
import type { RowChange } from '../store/audit.ts'

/** Every kind of damage that is known. docs/guides/check.md says what each means. */
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

export interface Problem {
  readonly kind: ProblemKind
  /** Null where no thread has it. */
  readonly threadId: string | null
  readonly messageId?: MessageId
  readonly callId?: CallId
  readonly seq?: Seq
  readonly what: string
  readonly mend: Mend
}

export type Mend =
  | { readonly kind: 'rows'; readonly changes: readonly RowChange[] }
  /** Ended by an append, as a server would that takes it over and does not carry it on. */
  | { readonly kind: 'close-turn'; readonly turnId: MessageId }
  /** Held by an append, so that a person can send it on. */
  | { readonly kind: 'hold-queue' }
  | { readonly kind: 'release-lease'; readonly turnId: MessageId }
  | { readonly kind: 'remove-orphans'; readonly key: string }
  | { readonly kind: 'none' }

/** The same problem, found again. */
export const isSameProblem = (left: Problem, right: Problem): boolean =>
  left.kind === right.kind &&
  left.threadId === right.threadId &&
  left.messageId === right.messageId &&
  left.callId === right.callId &&
  left.seq === right.seq
