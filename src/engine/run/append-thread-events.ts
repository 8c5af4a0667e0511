import type { NewThreadEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'

/**
 * Appends events of the thread itself at its current seq, whatever that is by then. False if there is no such
 * thread.
 */
export async function appendThreadEvents(
  { store, append, clock }: Pick<Engine, 'store' | 'append' | 'clock'>,
  threadId: ThreadId,
  events: readonly NewThreadEvent[],
): Promise<boolean> {
  return retryWhileStale(pauseOf(clock), async () => {
    const thread = await store.readThread(threadId)
    if (thread === null) return false
    const { kind } = await append({ threadId, events, expectedSeq: thread.seq })
    return kind === 'stale' ? kind : kind === 'appended'
  })
}
