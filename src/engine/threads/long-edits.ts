import type { Store } from '../../store/store.ts'

/** An edit, a regeneration or a switch of versions that hides more messages than this is long. */
export const longEditMessages = 1_000

/** Each holds a hundred bytes and more for every message that it hides, several times over. */
const longEditsAtOnce = 2

interface Gate {
  open: number
  readonly waiting: (() => void)[]
}

const gates = new WeakMap<Store, Gate>()

/** Leaves the gate; may be called more than once. */
export type Leave = () => void

/**
 * Waits until few enough long edits are planned and written at the same time: forty of them, each of the first of 40,000
 * messages, would together need more memory than the process has (OP7).
 */
export async function enterLongEdit(store: Store): Promise<Leave> {
  const gate = gates.get(store) ?? { open: 0, waiting: [] }
  gates.set(store, gate)
  if (gate.open < longEditsAtOnce) gate.open++
  // Whoever leaves hands its place over.
  else await new Promise<void>((resolve) => gate.waiting.push(resolve))
  let hasLeft = false
  return () => {
    if (hasLeft) return
    hasLeft = true
    const next = gate.waiting.shift()
    if (next === undefined) gate.open--
    else next()
  }
}
