import type { CallId, OwnerId, ThreadId } from '../../core/ids.ts'
import { callsOf } from '../../core/message.ts'
import type { FoundTurn, Store } from '../../store/store.ts'
import type { ReadGate } from '../follow/hub.ts'
import { isOther } from '../thread-scope.ts'

/** How a verb reads the turn that it plans on. */
export interface AnswerReads {
  /** The turn, where its caller has just read it. @default it is read */
  readonly found?: FoundTurn | undefined
  /** Around each read: a person's reads of large turns must not keep everybody else waiting (OP7a). @default none */
  readonly gate?: ReadGate
}

interface CallQuery {
  readonly threadId: ThreadId
  readonly callId: CallId
  readonly ownerId?: OwnerId | undefined
}

/**
 * `bounded`: a large turn without its large results, which is enough to judge what a person asks for. `full`: to begin its
 * run with, or the model would be sent a prompt without them.
 */
export type FindTurn = (results: 'bounded' | 'full') => Promise<FoundTurn | null>

/** The turn of a call: first the one that was found, if it is the call's, and then always as it is stored. */
export function createFindTurn(
  store: Store,
  { found, gate = ungated }: AnswerReads,
  { threadId, callId, ownerId }: CallQuery,
): FindTurn {
  const isIts =
    found?.threadId === threadId &&
    !isOther(found.ownerId, ownerId) &&
    callsOf(found.turn).some(({ id }) => id === callId)
  let first = isIts ? found : undefined
  return async (results) => {
    const known = first
    first = undefined
    if (known !== undefined) return known
    const read = await gate(() => store.readCall(threadId, callId, results))
    return read === null || isOther(read.ownerId, ownerId) ? null : read
  }
}

const ungated: ReadGate = (read) => read()
