import { assertNever } from '../core/assert-never.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CommitResult } from './committer.ts'

/** Somebody else has the run now: this one writes nothing more (CR2). */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** Nothing that this run does can be stored any more: another has it, or its thread was deleted. */
export const isRunLost = (error: unknown): boolean =>
  error instanceof FencedError ||
  (error instanceof HoldfastError && error.code === 'thread-not-found')

type Refusal = Exclude<CommitResult, { readonly kind: 'appended' | 'stale' }>

/** What a refused write means to the run that wanted it. */
export function toRefusalError(result: Refusal): Error {
  switch (result.kind) {
    case 'fenced':
    case 'leased':
      return new FencedError('Another run has taken over this turn.')
    case 'no-thread':
      return new HoldfastError('thread-not-found', 'The thread was deleted while it was answered.')
    case 'illegal':
      return new HoldfastError(
        'bad-event',
        `The ${result.subject} ${result.id} is ${result.state}: this cannot happen to it now.`,
      )
    default:
      return assertNever(result)
  }
}
