import type { NewThreadEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import { isOtherThread } from '../../core/thread-place.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import type { Engine } from '../engine.ts'
import { retryInLine } from '../threads/writers-in-line.ts'

/**
 * Appends events of the thread itself at its current seq, whatever that is by then. `known`: the thread, where it has
 * just been read; one that was created under its id since may be another owner's (HT2). False if there is no such thread.
 */
export async function appendThreadEvents(
  { store, append, clock }: Pick<Engine, 'store' | 'append' | 'clock'>,
  threadId: ThreadId,
  events: readonly NewThreadEvent[],
  known?: ThreadRecord,
): Promise<boolean> {
  let first = known
  return retryInLine({ store, clock }, threadId, async () => {
    const thread = first ?? (await store.readThread(threadId))
    first = undefined
    if (thread === null || (known !== undefined && isOtherThread(known, thread))) return false
    const { seq: expectedSeq, incarnation } = thread
    const { kind } = await append({ threadId, events, expectedSeq, incarnation })
    return kind === 'stale' ? kind : kind === 'appended'
  })
}
