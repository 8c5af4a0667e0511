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
        queueMicrotask(() => {
          if (listeners.has(listener)) tell(listener, hints)
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

function tell(listener: (hint: Hint) => void, hints: readonly Hint[]): void {
  try {
    for (const hint of hints) listener(hint)
  } catch {
    // A listener's bug is not the writer's, and a hint may be lost: whoever follows reads again anyway.
  }
}
