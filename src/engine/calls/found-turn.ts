import type { CallId, OwnerId, ThreadId } from '../../core/ids.ts'
import { callsOf, hasOmittedOutput } from '../../core/message.ts'
import type { FoundTurn } from '../../store/store.ts'
import { isOther } from '../thread-scope.ts'

/** Beside the lists and not in them: answers come from outside, and what a turn is like comes from the store alone. */
const foundFor = new WeakMap<readonly object[], FoundTurn>()

/** The same list of decisions or outputs, for a caller that has read the turn of their calls in the same request. */
export function withFoundTurn<Answers extends readonly object[]>(
  answers: Answers,
  found: FoundTurn,
): Answers {
  foundFor.set(answers, found)
  return answers
}

export const foundTurnOf = (answers: readonly object[]): FoundTurn | undefined =>
  foundFor.get(answers)

interface CallQuery {
  readonly threadId: ThreadId
  readonly callId: CallId
  readonly ownerId?: OwnerId | undefined
}

/**
 * What `applyInput` plans on: first the turn that was found, if it is the call's, and only after a stale commit the turn
 * as it is read then. A turn that was found without its large results is read: its run would send the model a prompt
 * without them.
 */
export function startWith<Found extends FoundTurn>(
  found: FoundTurn | undefined,
  { threadId, callId, ownerId }: CallQuery,
  read: () => Promise<Found | null>,
): () => Promise<FoundTurn | null> {
  const isIts =
    found?.threadId === threadId &&
    !isOther(found.ownerId, ownerId) &&
    callsOf(found.turn).some(({ id }) => id === callId) &&
    !hasOmittedOutput(found.turn)
  let first = isIts ? found : undefined
  return async () => {
    const known = first
    first = undefined
    return known ?? read()
  }
}
