import type { PausableWork } from '../core/pausable-work.ts'

/** How long work may block the event loop at a time. */
const sliceMs = 8

/** Called between pieces of long work; returns a promise to await once the slice is used up. */
export type Pacer = () => Promise<void> | undefined

/**
 * Splits long work on the main thread into slices. A source in memory and a synchronous store never leave the
 * microtask queue: without this, an import of 10 MB blocked every stream of the process until it was done
 * (OP7).
 */
export function createPacer(): Pacer {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < sliceMs) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        begun = performance.now()
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
