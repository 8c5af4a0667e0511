import { HoldfastError } from '../core/holdfast-error.ts'

/** Losing this often to other writers means that something is wrong, not that somebody was quicker. */
const mostAttempts = 100

/**
 * Optimistic concurrency, in the one way that everybody does it: read, plan on what was read, write if that
 * is still so, and begin again with the reading where it is not (`stale`). Throws after a hundred attempts.
 */
export async function retryWhileStale<Result>(
  attempt: () => Promise<Result | 'stale'>,
): Promise<Result> {
  const result = await attemptWhileStale(attempt, mostAttempts)
  if (result !== 'stale') return result
  throw new HoldfastError('store-failed', 'The thread changed too often to write to it.')
}

/** The same for callers that have their own answer to `stale`, where one attempt costs a lot. */
export async function attemptWhileStale<Result>(
  attempt: () => Promise<Result | 'stale'>,
  attempts: number,
): Promise<Result | 'stale'> {
  let result = await attempt()
  for (let done = 1; result === 'stale' && done < attempts; done++) result = await attempt()
  return result
}
