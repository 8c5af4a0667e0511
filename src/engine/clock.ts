/** Time as the engine sees it. Simulation puts its own in. */
export interface Clock {
  readonly now: () => number
  /**
   * Calls once after `ms`; the returned function cancels. `isBackground`: a process that has nothing else to do need not
   * stay alive for it.
   */
  readonly after: (ms: number, call: () => void, isBackground?: boolean) => () => void
  /** Calls after everything that is ready now has run: how waiting writes find each other. */
  readonly soon: (call: () => void) => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call, isBackground = false) {
    const timer = setTimeout(call, ms)
    // Not every platform has it, and those that freeze a process have no need of it.
    if (isBackground) timer.unref?.()
    return () => clearTimeout(timer)
  },
  soon(call) {
    if (typeof setImmediate === 'function') setImmediate(call)
    else setTimeout(call, 0)
  },
}

/** What the work gives, or a rejection once it has taken longer than `ms`. The work itself goes on. */
export async function within<Value>(
  clock: Clock,
  ms: number,
  work: () => Promise<Value>,
): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => over.reject(new Error(`It took longer than ${ms} ms.`)))
  try {
    return await Promise.race([work(), over.promise])
  } finally {
    cancel()
  }
}

/** Waits, or stops waiting when the signal says so. Never rejects. */
export function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done)
    if (signal?.aborted === true) done()
  })
}

/** What waits by this clock, for whoever tries again. */
export const pauseOf =
  (clock: Clock) =>
  (ms: number): Promise<void> =>
    wait(clock, ms)
