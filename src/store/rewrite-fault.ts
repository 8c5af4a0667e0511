import { HoldfastError } from '../core/holdfast-error.ts'
import type { AppendResult } from './store.ts'

/** A rewrite whose events do not go together is a mistake of its writer: nothing of it is stored. */
export function toRewriteFault(refusal: AppendResult): HoldfastError {
  const what =
    refusal.kind === 'illegal'
      ? `the ${refusal.subject} ${refusal.id} is ${refusal.state} already`
      : refusal.kind
  return new HoldfastError('bad-event', `A thread cannot be rewritten so: ${what}.`)
}
