import type { ThreadId } from '../../src/core/ids.ts'
import type { Store, StoredSeq } from '../../src/store/store.ts'

/** `Store.readSeqs` of a store that has no need of it, in the place of one that can lose notifications. */
export async function readSeqs(
  store: Store,
  ids: readonly ThreadId[],
): Promise<ReadonlyMap<ThreadId, StoredSeq>> {
  const found = new Map<ThreadId, StoredSeq>()
  for (const id of ids) {
    const place = await store.readPlace?.(id, 0)
    if (place == null) continue
    found.set(id, { seq: place.threadSeq, incarnation: place.incarnation })
  }
  return found
}
