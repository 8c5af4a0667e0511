import { HoldfastError } from '../core/holdfast-error.ts'

/** Losing this often to other writers means that something is wrong, not that somebody was quicker. */
const mostAttempts = 100
/** So often it is tried again at once: most often the one that was quicker wrote once. */
const mostAtOnce = 3
const longestPauseMs = 100

/** Waits so many milliseconds by the clock of whoever retries. */
export type Pause = (ms: number) => Promise<void>

/**
 * Optimistic concurrency, in the one way that everybody does it: read, plan on what was read, write if that
 * is still so, and begin again with the reading where it is not (`stale`): at once a few times, then after a pause that
 * doubles up to a tenth of a second, so that many who want one thread do not read it over and over. Throws after a
 * hundred attempts.
 */
export async function retryWhileStale<Result>(
  pause: Pause,
  attempt: () => Promise<Result | 'stale'>,
): Promise<Result> {
  const result = await attemptWhileStale(pause, attempt, mostAttempts)
  if (result !== 'stale') return result
  throw new HoldfastError('store-failed', 'The thread changed too often to write to it.')
}

/** The same for callers that have their own answer to `stale`, where one attempt costs a lot. */
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
