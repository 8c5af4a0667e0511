import { HoldfastError } from '../core/holdfast-error.ts'

/** An attempt that is stale this often points to a bug, not to concurrent writers. */
export const mostAttempts = 100
/** The retries without a pause: most often the other writer committed once. */
const mostAtOnce = 3
const longestPauseMs = 100

/** Waits this many milliseconds by the caller's clock. */
export type Pause = (ms: number) => Promise<void>

/**
 * The one implementation of optimistic concurrency: read, plan, write if the seq is unchanged, and start
 * again with the read if it is not (`stale`). It retries at once a few times, then after a pause that doubles
 * up to a tenth of a second, so that many writers of one thread do not read it over and over. Throws after a
 * hundred attempts. A run that commits its events (`RunLedger.commit`) is not this loop: it does not read the thread
 * again, but what was appended since, and text that a person is about to be shown must not wait for a pause.
 */
export async function retryWhileStale<Result>(
  pause: Pause,
  attempt: () => Promise<Result | 'stale'>,
): Promise<Result> {
  const result = await attemptWhileStale(pause, attempt, mostAttempts)
  if (result !== 'stale') return result
  throw new HoldfastError('store-failed', 'The thread changed too often to write to it.')
}

/** The same for callers that handle `stale` themselves, because one attempt is expensive. */
export async function attemptWhileStale<Result>(
  pause: Pause,
  attempt: () => Promise<Result | 'stale'>,
  attempts: number,
): Promise<Result | 'stale'> {
  let result = await attempt()
  for (let done = 1; result === 'stale' && done < attempts; done++) {
    if (done > mostAtOnce) await pause(Math.min(2 ** (done - mostAtOnce - 1), longestPauseMs))
    result = await attempt()
  }
  return result
}
