import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import { parseThreadId } from '../core/ids.ts'
import type { StoreProblem } from '../store/store.ts'
import type { Engine } from './engine.ts'

/**
 * Why a load balancer should send no requests to this server. `commits-waiting`: writes have waited for seconds;
 * `no-answer`: the database did not respond in time; `listener-down`: change notifications of other servers do not
 * arrive; `closing`: this process is shutting down; else the code of the database's error.
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

/**
 * Known problems are reported first, without waiting; then one read and one write are tried. The write goes through the
 * normal path and stores nothing, unless the disk was full or looks so: then it takes room, and shows whether there is any.
 */
export async function assertReady(
  { store, committer, append, assertOpen }: ReadyParts,
  newThreadId: string,
): Promise<void> {
  const problem = committer.problem()
  if (problem?.kind === 'commits-waiting') throw new NotReadyError('commits-waiting')
  const found = store.problem?.() ?? null
  if (found !== null && found !== 'store-full') throw new NotReadyError(found)
  const mayBeFull = found === 'store-full' || problem?.fault.code === 'store-full'
  const threadId = parseThreadId(newThreadId)
  try {
    assertOpen()
    await store.findAbandonedRuns(1)
    await (mayBeFull ? committer.assertRoom(threadId) : append({ threadId, events: [] }))
  } catch (error) {
    throw toNotReady(error)
  }
}

type ReadyParts = Pick<Engine, 'store' | 'committer' | 'append' | 'assertOpen'>

const toNotReady = (error: unknown): NotReadyError =>
  new NotReadyError(error instanceof HoldfastError ? error.code : 'no-answer', { cause: error })
