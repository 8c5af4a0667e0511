import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import { parseThreadId } from '../core/ids.ts'
import type { Store, StoreProblem } from '../store/store.ts'
import type { Committer } from './run/committer.ts'
import type { Engine } from './engine.ts'

/**
 * Why a load balancer should send no requests to this server. `commits-waiting`: writes have waited for seconds;
 * `no-answer`: the database did not respond in time; `listener-down`: change notifications of other servers do not
 * arrive; else the code of the database's error.
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

/** Known problems are reported first, without waiting; then one read and one write are tried. */
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
    // An append without a thread goes through the normal write path and stores nothing.
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

/** Whether a write that stores nothing would show that the fault is over. A full disk accepts those. */
const isProbed = ({ code }: HoldfastError): boolean => code !== 'store-full'

const toNotReady = (error: unknown): NotReadyError =>
  new NotReadyError(error instanceof HoldfastError ? error.code : 'no-answer', { cause: error })
