import { assertNever } from '../../core/assert-never.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { CommitResult } from './committer.ts'

/** Another process holds the lease now, so this run must write nothing more (CR2). */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * Nothing that this run writes can be stored any more: another process holds the lease, or the thread was deleted.
 */
export const isRunLost = (error: unknown): boolean =>
  error instanceof FencedError ||
  (error instanceof HoldfastError && error.code === 'thread-not-found')

type Refusal = Exclude<CommitResult, { readonly kind: 'appended' | 'stale' }>

/** The error that a refused write raises in the run that submitted it. */
export function toRefusalError(result: Refusal): Error {
  switch (result.kind) {
    case 'fenced':
    case 'leased':
      return new FencedError('Another run has taken over this turn.')
    case 'no-thread':
      return new HoldfastError('thread-not-found', 'The thread was deleted while its answer ran.')
    case 'illegal':
      return new HoldfastError(
        'bad-event',
        `The ${result.subject} ${result.id} is ${result.state}: this cannot happen to it now.`,
      )
    default:
      return assertNever(result)
  }
}
