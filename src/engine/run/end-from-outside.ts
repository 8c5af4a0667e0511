import type { NewEvent, NewTurnEvent } from '../../core/event.ts'
import { foldOn } from '../../core/fold-turn.ts'
import type { OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Turn, TurnEnding } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import type { FoundTurn } from '../../store/store.ts'
import { pauseOf } from '../clock.ts'
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

/** How to end a turn that another process runs, or ran. */
export interface TakenOverTurn {
  readonly ending: TurnEnding['kind']
  /** The events that end the turn, planned on the turn as it is under the acquired lease. */
  readonly plan: (turn: Turn) => readonly NewTurnEvent[]
  /** See `LeaseUse`. */
  readonly overFence?: number | undefined
}

export type TakenOver =
  /** The turn as it is now. */
  | { readonly kind: 'ended'; readonly turn: Turn }
  /** The thread changed before the lease was acquired. */
  | { readonly kind: 'stale' }
  /** The run belongs to another process, or there is none any more. */
  | { readonly kind: 'gone' }

/** Acquires the lease of a running turn that this process does not run, and ends the turn. */
export async function takeOverToEnd(
  engine: Engine,
  found: FoundTurn,
  { ending, plan, overFence }: TakenOverTurn,
): Promise<TakenOver> {
  const { store, clock, holder, givenUp } = engine
  const { threadId } = found
  const turnId = found.turn.id
  const lease = { kind: 'acquire', holder, ttlMs: 1_000, turnId } as const
  // At the seq of the read: once the turn has ended, the lease may be that of the next turn, whose process died too.
  // Acquired and released as that of this one, it would leave a turn that no server finds again (CR1).
  const acquired = await engine.append({
    ...toPlace(found),
    events: [],
    lease: withDefined(lease, { overFence }),
  })
  if (acquired.kind === 'stale') return { kind: 'stale' }
  if (acquired.kind !== 'appended' || acquired.fence === undefined) return { kind: 'gone' }
  const { fence } = acquired
  let known: FoundTurn | null = found
  const end = retryWhileStale(pauseOf(clock), async (): Promise<TakenOver | 'stale'> => {
    const current = known ?? (await store.findTurn(turnId))
    known = null
    if (current === null || current.threadId !== threadId) return { kind: 'gone' }
    const { turn, ownerId } = current
    const place = toPlace(current)
    if (turn.progress.status !== 'running') {
      const release = { kind: 'release', fence } as const
      const { kind } = await engine.append({ ...place, events: [], lease: release })
      return kind === 'stale' ? kind : { kind: 'gone' }
    }
    const events = plan(turn)
    const { kind } = await endFromOutside(engine, { ...place, ownerId, fence }, events, ending)
    if (kind === 'stale') return kind
    return kind === 'appended' ? { kind: 'ended', turn: foldOn(turn, events) } : { kind: 'gone' }
  })
  return end.catch((error: unknown) => {
    // The lease binds until its time is over, and only this process knows that nothing works on the turn.
    givenUp.set(threadId, { turnId, fence })
    throw error
  })
}

const toPlace = ({ threadId, seq: expectedSeq, incarnation, turn, queue }: FoundTurn) => ({
  threadId,
  expectedSeq,
  incarnation,
  turns: [turn],
  queue,
})
