import type { PausableWork } from '../import/pausable-work.ts'

/** How long work may hold the main thread before everybody else gets a turn. */
const sliceMs = 8

/** Called between pieces of long work; returns a promise when the event loop has waited long enough. */
export type Pacer = () => Promise<void> | undefined

/**
 * Cuts long work on the main thread into slices. A source that is in memory and a store that answers in
 * the same tick never leave the microtask queue: without this, an import of 10 MB stopped every stream
 * of the process until it was done (OP7).
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
