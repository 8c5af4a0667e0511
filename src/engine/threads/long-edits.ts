import { createFairGate, type FairGate, type Leave } from '../../core/fair-gate.ts'
import type { OwnerId } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'

/** An edit, a regeneration, a switch of versions or a fork that goes over more messages than this is long. */
export const longEditMessages = 1_000

/** Each holds a hundred bytes and more for every message that it goes over, several times over. */
const longEditsAtOnce = 2

const gates = new WeakMap<Store, FairGate>()

/**
 * Waits until few enough long edits are planned and written at the same time: forty of them, each of the first of 40,000
 * messages, would together need more memory than the process has (OP7).
 */
export function enterLongEdit(store: Store, ownerId: OwnerId): Promise<Leave> {
  const gate = gates.get(store) ?? createFairGate(longEditsAtOnce)
  gates.set(store, gate)
  return gate(ownerId)
}
