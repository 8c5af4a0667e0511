import type { Hint } from './store.ts'

/** The listeners of one process. Hints go out after the commit that they tell of, never inside it. */
export interface HintBoard {
  readonly size: number
  post(hints: readonly Hint[]): void
  watch(listener: (hint: Hint) => void): () => void
}

export function createHintBoard(): HintBoard {
  const listeners = new Set<(hint: Hint) => void>()
  return {
    get size() {
      return listeners.size
    },
    post(hints) {
      if (hints.length === 0 || listeners.size === 0) return
      for (const listener of [...listeners]) {
        // One task each, so that a listener that throws is reported and takes nobody down with it.
        queueMicrotask(() => {
          if (!listeners.has(listener)) return
          for (const hint of hints) listener(hint)
        })
      }
    },
    watch(listener) {
      const own = (hint: Hint) => listener(hint)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
