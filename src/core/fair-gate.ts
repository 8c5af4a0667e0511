/** Leaves the gate; may be called more than once. */
export type Leave = () => void

/** Waits for a place; those of one key have one at a time. */
export type FairGate = (key: string) => Promise<Leave>

/**
 * A gate for work that holds much memory, or a connection: so many at once, of each key one, and the keys in turns. Whoever
 * brings much of it waits for himself, and others pass (OP7).
 */
export function createFairGate(most: number): FairGate {
  const inside = new Set<string>()
  /** In the order in which keys come next. Without it, a key that always waits would have a place for itself. */
  const lanes = new Map<string, (() => void)[]>()
  const admit = () => {
    for (const [key, lane] of lanes) {
      if (inside.size >= most) return
      if (inside.has(key)) continue
      const enter = lane.shift()
      lanes.delete(key)
      if (lane.length > 0) lanes.set(key, lane)
      inside.add(key)
      enter?.()
    }
  }
  return async (key) => {
    await new Promise<void>((enter) => {
      const lane = lanes.get(key) ?? []
      lane.push(enter)
      lanes.set(key, lane)
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
