import {
  type MessageId,
  type NewEvent,
  planCommit,
  type Store,
  type ThreadId,
  type Turn,
} from 'holdfast'

/**
 * A writer that holds what it writes about, as a run does: where its thread stands, and the turns that
 * have not ended. So a commit costs no read.
 */
export interface ThreadWriter {
  write(events: readonly NewEvent[]): Promise<void>
}

/** The thread is there and has no events yet. */
export function createThreadWriter(store: Store, threadId: ThreadId): ThreadWriter {
  let expectedSeq = 0
  const open = new Map<MessageId, Turn>()
  return {
    async write(events) {
      const planned = planCommit({ threadId, events, expectedSeq, turns: [...open.values()] })
      if ('kind' in planned) throw new Error(`refused: ${JSON.stringify(planned)}`)
      const [result] = await store.commit([planned])
      if (result?.kind !== 'appended') throw new Error(`refused: ${JSON.stringify(result)}`)
      expectedSeq = result.seq
      for (const [id, turn] of planned.turns) {
        if (turn.progress.status === 'ended') open.delete(id)
        else open.set(id, turn)
      }
    },
  }
}
