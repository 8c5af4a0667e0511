import type { NewEvent } from '../core/event.ts'
import type { FileId } from '../core/file.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import type { PlannedCallRow } from './plan-calls.ts'
import { planCommit, type PlannedCommit, type ThreadToCreate } from './plan-commit.ts'

/** A thread that is created with all its content: see `Store.createWhole`. */
export interface WholeThread {
  readonly threadId: ThreadId
  readonly create: ThreadToCreate
  /** In order; each is as much as may be written at once (OP7). */
  readonly portions: AsyncIterable<WholePortion>
}

/** A portion of a thread's content. */
export type WholePortion =
  | { readonly kind: 'events'; readonly events: readonly NewEvent[]; readonly hasCalls?: true }
  /**
   * Some of the calls of the turn that the next events copy, and the files that they refer to. A turn of many
   * megabytes is larger than may be written at once: its calls are written before it, and the events that copy it
   * have no values of them (`hasCalls`).
   */
  | {
      readonly kind: 'calls'
      readonly calls: readonly PlannedCallRow[]
      readonly files: readonly FileId[]
    }

/** The commit of a portion of events, at the thread's seq. */
export function planWholeCommit(
  threadId: ThreadId,
  { events, hasCalls }: Extract<WholePortion, { readonly kind: 'events' }>,
  expectedSeq: Seq,
  create?: ThreadToCreate,
): PlannedCommit {
  const append = withDefined({ threadId, events, expectedSeq }, { create })
  const planned = planCommit(hasCalls === true ? { ...append, hasCalls } : append)
  if ('kind' in planned) throw toWholeFault(planned)
  return planned
}

/** Nobody else knows the thread yet: a commit that is refused is a bug of its writer. */
export const toWholeFault = ({ kind }: { readonly kind: string }): HoldfastError =>
  new HoldfastError('store-failed', `The thread could not be stored: ${kind}.`)
