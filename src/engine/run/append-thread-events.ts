import type { NewThreadEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Engine } from '../engine.ts'
import { retryInLine } from '../threads/writers-in-line.ts'

/**
 * Appends events of the thread itself at its current seq, whatever that is by then. False if there is no such
 * thread.
 */
export async function appendThreadEvents(
  { store, append, clock }: Pick<Engine, 'store' | 'append' | 'clock'>,
  threadId: ThreadId,
  events: readonly NewThreadEvent[],
): Promise<boolean> {
  return retryInLine({ store, clock }, threadId, async () => {
    const thread = await store.readThread(threadId)
    if (thread === null) return false
    const { seq: expectedSeq, incarnation } = thread
    const { kind } = await append({ threadId, events, expectedSeq, incarnation })
    return kind === 'stale' ? kind : kind === 'appended'
  })
}
