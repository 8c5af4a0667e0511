import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import { parseThreadId } from '../core/ids.ts'
import type { Store, StoreProblem } from '../store/store.ts'
import type { Committer } from './committer.ts'
import type { Engine } from './engine.ts'

/**
 * Why a server should be sent nobody, in a word. `commits-waiting`: writes have waited for seconds;
 * `no-answer`: the database did not answer in time; `listener-down`: changes of other servers are not heard of;
 * else the code of what the database said.
 */
export type NotReadyReason = StoreProblem | ErrorCode | 'commits-waiting' | 'no-answer'

export class NotReadyError extends Error {
  override readonly name = 'NotReadyError'
  readonly reason: NotReadyReason

  constructor(reason: NotReadyReason, options?: ErrorOptions) {
    super(`This server is not ready: ${reason}.`, options)
    this.reason = reason
  }
}

/** What is known already comes first, and waits for nobody; then one read and one write are tried. */
export async function assertReady(
  { store, committer, append }: ReadyParts,
  newThreadId: string,
): Promise<void> {
  const problem = committer.problem()
  if (problem?.kind === 'commits-waiting') throw new NotReadyError('commits-waiting')
  if (problem?.kind === 'fault' && !isProbed(problem.fault)) throw toNotReady(problem.fault)
  const found = store.problem?.() ?? null
  if (found !== null) throw new NotReadyError(found)
  try {
    await store.findAbandonedRuns(1)
    // To no thread: it goes the way of every write and leaves nothing.
    await append({ threadId: parseThreadId(newThreadId), events: [] })
  } catch (error) {
    throw toNotReady(error)
  }
}

interface ReadyParts {
  readonly store: Store
  readonly committer: Committer
  readonly append: Engine['append']
}

/** Whether a write that leaves nothing would show that it is over. A full disk takes those. */
const isProbed = ({ code }: HoldfastError): boolean => code !== 'store-full'

const toNotReady = (error: unknown): NotReadyError =>
  new NotReadyError(error instanceof HoldfastError ? error.code : 'no-answer', { cause: error })
