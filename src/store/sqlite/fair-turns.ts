import { sliceMs } from '../pacer.ts'

/**
 * SQLite's calls are synchronous, so code that reads page after page never leaves the microtask queue: an
 * export, a search or a large deletion would block every stream of the process until it is done (OP7). Once
 * the database has been used for a slice in this turn of the event loop, every further caller waits for the
 * next turn.
 */
export function createFairTurns(now: () => number = () => performance.now()) {
  let begun: number | null = null
  let next: Promise<void> | null = null
  const nextTurn = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        begun = null
        next = null
        resolve()
      })
    })
  /** Undefined: the caller may continue at once. */
  return (): Promise<void> | undefined => {
    if (begun === null) {
      begun = now()
      next = nextTurn()
      return undefined
    }
    return now() - begun < sliceMs ? undefined : (next ?? undefined)
  }
}
