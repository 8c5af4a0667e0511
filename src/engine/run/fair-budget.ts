/** What one holder has of a budget. */
export interface BudgetShare {
  /** Never waits: what is more than there is room for makes others wait. */
  resize(size: number): void
  /** Gives all of it back; may be called more than once. */
  release(): void
}

/** Waits for so much of the budget. Rejects with the signal's reason when it is aborted. */
export type FairBudget = (key: string, size: number, signal: AbortSignal) => Promise<BudgetShare>

export interface BudgetLimits {
  readonly perKey: number
  readonly ofAll: number
}

interface Waiting {
  readonly key: string
  readonly size: number
  readonly enter: () => void
}

/**
 * A budget of memory: so much for all, and for each key. Whoever holds much waits for himself, and who holds nothing never
 * waits, however much others hold (OP7). A holder must not wait for a second share of the same budget: two that do wait for
 * one another.
 */
export function createFairBudget(limits: BudgetLimits): FairBudget {
  const held = new Map<string, { shares: number; size: number }>()
  let total = 0
  let waiting: readonly Waiting[] = []
  const grow = (key: string, size: number, shares: number) => {
    const own = held.get(key) ?? { shares: 0, size: 0 }
    own.shares += shares
    own.size += size
    total += size
    if (own.shares > 0) held.set(key, own)
    else held.delete(key)
  }
  const hasRoom = ({ key, size }: Waiting) => {
    const own = held.get(key)
    if (own === undefined) return true
    return own.size + size <= limits.perKey && total + size <= limits.ofAll
  }
  const admit = () => {
    // Those of one key in order: otherwise many small shares would keep a large one out for ever.
    const blocked = new Set<string>()
    waiting = waiting.filter((each) => {
      const { key, size, enter } = each
      if (blocked.has(key) || !hasRoom(each)) {
        blocked.add(key)
        return true
      }
      grow(key, size, 1)
      enter()
      return false
    })
  }
  const enterInOrder = (key: string, size: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting = waiting.filter((each) => each !== own)
        reject(signal.reason as Error)
        admit()
      }
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const own = { key, size, enter }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting = [...waiting, own]
      admit()
    })

  return async (key, size, signal) => {
    signal.throwIfAborted()
    await enterInOrder(key, size, signal)
    let current = size
    let isHeld = true
    const change = (changed: number, shares: number) => {
      if (!isHeld) return
      grow(key, changed - current, shares)
      current = changed
      isHeld = shares === 0
      admit()
    }
    return { resize: (changed) => change(changed, 0), release: () => change(0, -1) }
  }
}
