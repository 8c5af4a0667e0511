import { createPacer, type Pacer } from '../store/pacer.ts'

/** Time as the engine sees it. The simulation replaces it. */
export interface Clock {
  /** Milliseconds since 1970: the times that are stored and shown. */
  readonly now: () => number
  /**
   * Monotonic milliseconds, for durations: when the wall clock is set, a timeout measured with `now` fires at once or
   * never. @default `now`
   */
  readonly elapsed?: () => number
  /**
   * Calls once after `ms`; the returned function cancels. `isBackground`: the timer does not keep an otherwise idle
   * process alive.
   */
  readonly after: (ms: number, call: () => void, isBackground?: boolean) => () => void
  /** Calls after everything that is ready in this tick has run: this is how concurrent writes are grouped. */
  readonly soon: (call: () => void) => void
}

/** The clock and timers of the system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call, isBackground = false) {
    const timer = setTimeout(call, ms)
    // Not every platform has it, and those that freeze a process do not need it.
    if (isBackground) timer.unref?.()
    return () => clearTimeout(timer)
  },
  soon(call) {
    if (typeof setImmediate === 'function') setImmediate(call)
    else setTimeout(call, 0)
  },
}

/** What durations are measured with. */
export const elapsedMs = (clock: Clock): number => clock.elapsed?.() ?? clock.now()

/** The result of the work, or a rejection once it has taken longer than `ms`. The work itself goes on. */
export async function within<Value>(
  clock: Clock,
  ms: number,
  work: () => Promise<Value>,
  what = 'It',
): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => over.reject(new Error(`${what} took longer than ${ms} ms.`)))
  try {
    return await Promise.race([work(), over.promise])
  } finally {
    cancel()
  }
}

/** Waits, or stops waiting when the signal aborts. Never rejects. */
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

/** After everything that is ready now: work that awaits this lets others have their turn (OP7). */
export const nextTurn = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.soon(resolve)
  })

/**
 * After all promises that can continue now have continued, but before any other event: who waits for a result that is
 * there gets it before the work that follows from it, which loses no turn of the event loop. Where there are no ticks, at
 * once.
 */
export const nextTick = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof process === 'object' && typeof process.nextTick === 'function') {
      process.nextTick(resolve)
    } else resolve()
  })

/** Pauses of long work, by this clock. */
export const pacerOf = (clock: Clock): Pacer =>
  createPacer({ now: () => elapsedMs(clock), soon: clock.soon })

/** A pause by this clock, for retries. */
export const pauseOf =
  (clock: Clock) =>
  (ms: number): Promise<void> =>
    wait(clock, ms)
