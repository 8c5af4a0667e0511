import type { PausableWork } from '../core/pausable-work.ts'

/** How long work may block the event loop at a time. */
export const sliceMs = 5

/** How much of a thread is read at once by work that may read all of it: about a slice, to read and fold it (OP7). */
export const bytesPerSlice = 262_144

/** Repeats each step until it changes no row. False: the slice was used up before. */
export function runSlice(steps: readonly (() => number)[]): boolean {
  const until = performance.now() + sliceMs
  for (const step of steps) {
    while (step() > 0) if (performance.now() >= until) return false
  }
  return true
}

/** Called between pieces of long work; returns a promise to await once the slice is used up. */
export type Pacer = () => Promise<void> | undefined

/** The time that slices are measured with, and how the event loop is left for a moment. */
export interface PacerTime {
  readonly now: () => number
  readonly soon: (call: () => void) => void
}

const systemTime: PacerTime = {
  now: () => performance.now(),
  soon: (call) => void setImmediate(call),
}

/**
 * Splits long work on the main thread into slices. A source in memory, a synchronous store and a model whose parts are all
 * there already never leave the microtask queue: without this, an import of 10 MB blocked every stream of the process
 * until it was done (OP7).
 */
export function createPacer({ now, soon }: PacerTime = systemTime): Pacer {
  let begun = now()
  return () => {
    if (now() - begun < sliceMs) return undefined
    return new Promise((resolve) => {
      soon(() => {
        begun = now()
        resolve()
      })
    })
  }
}

/** Runs work that yields between its pieces, in slices. */
export async function runPaced<Result>(work: PausableWork<Result>, pace: Pacer): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    const pause = pace()
    if (pause !== undefined) await pause
  }
}
