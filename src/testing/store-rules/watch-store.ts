import type { Hint, Store } from '../../store/store.ts'

interface Watched {
  readonly hints: readonly Hint[]
  /** Resolves with the first hint, past or to come, that fits. */
  readonly until: (fits: (hint: Hint) => boolean) => Promise<Hint>
  readonly stop: () => void
}

/** Keeps the hints of a store, and lets a rule wait for one. */
export function watchStore(store: Store): Watched {
  const hints: Hint[] = []
  const waiting = new Set<(hint: Hint) => void>()
  const stop = store.watch((hint) => {
    hints.push(hint)
    for (const check of waiting) check(hint)
  })
  return {
    hints,
    stop,
    until(fits) {
      const past = hints.find(fits)
      if (past !== undefined) return Promise.resolve(past)
      return new Promise((resolve) => {
        const check = (hint: Hint) => {
          if (!fits(hint)) return
          waiting.delete(check)
          resolve(hint)
        }
        waiting.add(check)
      })
    },
  }
}
