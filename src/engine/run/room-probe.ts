import { randomBytes } from 'node:crypto'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseMessageId, parseOwnerId, type ThreadId } from '../../core/ids.ts'
import { commitAppend } from '../../store/commit-group.ts'
import type { Store } from '../../store/store.ts'
import { type Clock, elapsedMs } from '../clock.ts'

/** More than most commits take: a disk without room for these may still store a few rows. */
const probeBytes = 196_608
/** The readiness check is open to everybody, and must not be a way to keep the disk busy. */
const probeEveryMs = 1_000
/** If the process dies during a probe, a thread of this owner is left. */
const ownerId = parseOwnerId('holdfast-readiness')

/**
 * Shows by a write that the store has room: it stores a thread and deletes it. Only that does. A disk that is full accepts
 * a write of nothing, and whether the disk of another machine has room again can be read nowhere. Rejects with the error of
 * the write.
 *
 * It is not one of the group commits: a group is stored whole or not at all, and a person's message of a few bytes would
 * fail with the probe.
 */
export function createRoomProbe(store: Store, clock: Clock): (threadId: ThreadId) => Promise<void> {
  let last: { readonly result: Promise<void>; readonly at: number } | undefined

  const probe = async (threadId: ThreadId): Promise<void> => {
    const at = clock.now()
    const create = { ownerId, title: 'A check for room on the disk', at }
    // Random, because a database may compress what it stores.
    const metadata = randomBytes(probeBytes).toString('base64')
    const added = { type: 'message-added', role: 'user', parts: [], metadata, at } as const
    const events = [{ ...added, messageId: parseMessageId(threadId) }]
    try {
      const { kind } = await commitAppend(store, { threadId, create, events, expectedSeq: 0 })
      if (kind !== 'appended') throw new HoldfastError('store-locked', 'Nothing could be stored.')
    } finally {
      // Also after an error: a commit without an answer may have been stored.
      await store.deleteThread(threadId)
    }
  }

  return (threadId) => {
    if (last === undefined || elapsedMs(clock) - last.at >= probeEveryMs) {
      last = { result: probe(threadId), at: elapsedMs(clock) }
    }
    return last.result
  }
}
