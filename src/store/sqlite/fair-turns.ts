/** How long the database may be used in one turn of the event loop before everybody else has theirs. */
const sliceMs = 8

/**
 * SQLite answers in the same tick, so whoever reads page after page never leaves the microtask queue: an export, a search
 * or a deletion of much would stop every stream of the process until it is done (OP7). Whoever comes when the database has
 * been used for a slice of this turn of the loop waits for the next turn.
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
  /** Undefined: it may go on at once. */
  return (): Promise<void> | undefined => {
    if (begun === null) {
      begun = now()
      next = nextTurn()
      return undefined
    }
    return now() - begun < sliceMs ? undefined : (next ?? undefined)
  }
}
