import { type Clock, elapsedMs } from '../clock.ts'

/**
 * How long a run that is interrupted waits for functions of the host application, in all. One of them may never return, and
 * would keep everybody waiting who stops the turn or closes the server (ST1).
 */
const patienceMs = 2_000

/**
 * Waits for a function of the host application. Rejects with the reason of the run's signal once the run was interrupted
 * `patienceMs` ago; what the function does then is ignored.
 *
 * Only for functions of the host: what the engine itself does is always waited for. A commit or a file that is being stored
 * holds a result that has arrived, and a run that went on without it would store its end before it, and lose it.
 */
export type HostPatience = <Value>(called: PromiseLike<Value> | Value) => Promise<Value>

export function createHostPatience(clock: Clock, signal: AbortSignal): HostPatience {
  let abortedAt: number | undefined
  // Of those that are waited for. One listener for all of them: a turn of thousands of calls would add as many.
  const limits = new Set<() => void>()
  const onAbort = () => {
    abortedAt ??= elapsedMs(clock)
    for (const limit of limits) limit()
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return async (called) => {
    if (!isPromiseLike(called)) return called
    const over = Promise.withResolvers<never>()
    let cancel = () => {}
    const limit = () => {
      const leftMs = Math.max(0, (abortedAt ?? 0) + patienceMs - elapsedMs(clock))
      cancel = clock.after(leftMs, () => over.reject(signal.reason as Error))
    }
    if (abortedAt === undefined) limits.add(limit)
    else limit()
    try {
      return await Promise.race([called, over.promise])
    } finally {
      limits.delete(limit)
      cancel()
    }
  }
}

const isPromiseLike = <Value>(value: PromiseLike<Value> | Value): value is PromiseLike<Value> =>
  typeof (value as Partial<PromiseLike<Value>> | null | undefined)?.then === 'function'
