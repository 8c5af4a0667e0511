import type { NewEvent } from '../core/event.ts'
import type { OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { Turn, TurnEnding } from '../core/message.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { CommitResult } from './committer.ts'
import type { Engine } from './engine.ts'
import { planEnd } from './plan-end.ts'

export interface ThreadStand {
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly expectedSeq: Seq
  readonly turns: readonly Turn[]
  /** The inputs that wait at `expectedSeq`. */
  readonly queue: InputQueue
  /** The lease that is given back, or over which the next is acquired. Absent: nobody holds one. */
  readonly fence?: number
}

/** Writes events that end what a thread did, by whoever does not run it; the next input begins in the same commit (IN2). */
export async function endFromOutside(
  engine: Engine,
  { ownerId, fence, ...place }: ThreadStand,
  ended: readonly NewEvent[],
  ending: TurnEnding['kind'],
): Promise<CommitResult> {
  const newTurn = () => (engine.agents.canAnswer ? { turnId: engine.newMessageId() } : null)
  const { events, next } = planEnd(ended, place.queue, ending, engine.clock.now(), newTurn)
  if (next !== null) {
    const over = fence === undefined ? {} : { overFence: fence }
    // Whatever runs here of this thread has lost its lease, or has just been ended.
    const begin = { ...place, ...over, ownerId, turnId: next, how: 'sent', isIdle: true } as const
    return engine.begin({ ...begin, events })
  }
  const lease = fence === undefined ? {} : { lease: { kind: 'release', fence } as const }
  return engine.append({ ...place, ...lease, events })
}
