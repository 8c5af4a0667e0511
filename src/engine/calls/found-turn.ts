import type { CallId, OwnerId, ThreadId } from '../../core/ids.ts'
import { callsOf, hasOmittedOutput } from '../../core/message.ts'
import type { FoundTurn } from '../../store/store.ts'
import { isOther } from '../thread-scope.ts'

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
