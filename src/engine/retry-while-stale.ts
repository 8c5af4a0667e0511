import { HoldfastError } from '../core/holdfast-error.ts'

/** Losing this often to other writers means that something is wrong, not that somebody was quicker. */
const mostAttempts = 100

/**
 * Optimistic concurrency, in the one way that everybody does it: read, plan on what was read, write if that
 * is still so, and begin again with the reading where it is not (`stale`).
 */
export async function retryWhileStale<Result>(
  attempt: () => Promise<Result | 'stale'>,
): Promise<Result> {
  for (let attempts = 0; attempts < mostAttempts; attempts++) {
    const result = await attempt()
    if (result !== 'stale') return result
  }
  throw new HoldfastError('store-failed', 'The thread changed too often to write to it.')
}
