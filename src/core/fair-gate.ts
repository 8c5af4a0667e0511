/** Leaves the gate; may be called more than once. */
export type Leave = () => void

/** Waits for a place; those of one key have one at a time. */
export type FairGate = (key: string) => Promise<Leave>

/**
 * A gate for work that holds much memory: so many at once, and of each key one, so that whoever brings much of it waits for
 * himself and others pass (OP7).
 */
export function createFairGate(most: number): FairGate {
  const inside = new Set<string>()
  const waiting: { readonly key: string; readonly enter: () => void }[] = []
  const admit = () => {
    for (let nth = 0; nth < waiting.length && inside.size < most;) {
      const { key, enter } = waiting[nth] as (typeof waiting)[number]
      if (inside.has(key)) nth++
      else {
        waiting.splice(nth, 1)
        inside.add(key)
        enter()
      }
    }
  }
  return async (key) => {
    await new Promise<void>((enter) => {
      waiting.push({ key, enter })
      admit()
    })
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      inside.delete(key)
      admit()
    }
  }
}
