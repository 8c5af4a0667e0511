import type { NewEvent } from '../../core/event.ts'
import type { OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Turn, TurnEnding } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import type { CommitResult } from './committer.ts'
import type { Engine } from '../engine.ts'
import { planEnd } from './plan-end.ts'

/** The thread as its caller has read it: what the commit is planned on. */
export interface ReadThread {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly expectedSeq: Seq
  /** See `Append`. */
  readonly incarnation: string | undefined
  readonly turns: readonly Turn[]
  /** The queued inputs at `expectedSeq`. */
  readonly queue: InputQueue
  /**
   * The lease that is released, or over which the lease of the next turn is acquired. Absent: there is no lease.
   */
  readonly fence?: number
}

/**
 * Appends the events that end a turn, for a caller that does not run it (stop, recovery); the turn of the next
 * queued input begins in the same commit (IN2).
 */
export async function endFromOutside(
  engine: Engine,
  { ownerId, fence, ...place }: ReadThread,
  ended: readonly NewEvent[],
  ending: TurnEnding['kind'],
): Promise<CommitResult> {
  const newTurn = () => (engine.agents.canAnswer ? { turnId: engine.newMessageId() } : null)
  const { events, next } = planEnd(ended, place.queue, ending, engine.clock.now(), newTurn)
  if (next !== null) {
    const over = fence === undefined ? {} : { overFence: fence }
    // Any run of this thread in this process has lost its lease or has just ended, so the thread is idle.
    const begin = { ...place, ...over, ownerId, turnId: next, how: 'sent', isIdle: true } as const
    return engine.begin({ ...begin, events })
  }
  const lease = fence === undefined ? {} : { lease: { kind: 'release', fence } as const }
  return engine.append({ ...place, ...lease, events })
}
