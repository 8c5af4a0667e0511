import { admitEvents } from '../core/admit-events.ts'
import {
  isTurnEvent,
  type LedgerEvent,
  type NewEvent,
  type NewTurnEvent,
  type TurnEvent,
} from '../core/event.ts'
import { foldOn, foldTurn } from '../core/fold-turn.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { CallEvent } from '../core/lifecycle.ts'
import type { Turn } from '../core/message.ts'
import { findInterrupt, foldQueueChange } from '../core/queue.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { Appended, LeaseUse } from '../store/lease.ts'
import { planCommit, type PlannedCommit } from '../store/plan-commit.ts'
import type { Store } from '../store/store.ts'
import { FencedError, isRunLost, toRefusalError } from './append-refusal.ts'
import type { Clock } from './clock.ts'
import type { Committer } from './committer.ts'
import { createEventBuffer } from './event-buffer.ts'
import { createDeferredNotifications } from './deferred-notifications.ts'
import type { Hub } from './hub.ts'
import { toFrame } from './live-window.ts'
import type { NewTurn } from './plan-end.ts'

/**
 * The one way a run writes. What it holds as `turn` is the fold of what has been committed, never of
 * what is about to be; others may write to the turn meanwhile (a decision), and their events are in it.
 */
export interface RunLedger {
  readonly turn: Turn
  /** The turn as it will be once what waits is committed: to plan with, never to show. */
  readonly expected: Turn
  readonly fence: number
  /** The inputs that wait, as of what has been committed or read. */
  readonly queue: InputQueue
  readonly successor: Successor
  /**
   * Whether the lease is still this run's, as far as it knows: it has not given it back, and nobody was seen to have
   * taken it. A run that ends so leaves a turn that says it runs (see `Engine.givenUp`).
   */
  readonly holdsLease: boolean
  /** Text and the like: committed within `textDelayMs`, together with whatever else comes. */
  push(event: NewTurnEvent): void
  /** Adds to the text that was pushed last; false if it cannot be added there, and has to be pushed. */
  extend(block: string, delta: string): boolean
  /** What was pushed does not wait for text: committed at once, with whatever else is ready by then. */
  flushSoon(): void
  /**
   * These, committed at once like `commit`, but together with whatever is ready in the same moment: ten
   * results that come together cost one flush, not two.
   */
  commitTogether(events: readonly NewTurnEvent[]): Promise<void>
  /** Everything pushed so far, and these, committed now. Rejects if nothing of it was stored. */
  commit(events?: readonly NewTurnEvent[]): Promise<void>
  /**
   * Everything pushed so far, and what is planned on top of it, in one commit; but only if nobody
   * else wrote meanwhile. Null: look again. A plan of null commits nothing.
   */
  commitIfCurrent(plan: Plan, finish: Finish): Promise<StoredPlan | null>
  renew(ms: number): Promise<void>
  /** How many events wait for the next commit. */
  readonly pending: number
  /**
   * After a failed write nothing more is written, or a later event would stand where an earlier one is
   * missing (LG3). This gives up what was not stored and reads anew what was.
   */
  reload(): Promise<void>
}

/** `next`: a turn that these events begin, and whose lease is acquired in place of this run's own. */
export interface PlannedEvents {
  readonly events: readonly NewEvent[]
  readonly next?: MessageId | null
}
export type Plan = (turn: Turn, queue: InputQueue) => PlannedEvents | null

export interface StoredPlan {
  /** What the run of the next turn begins with. */
  readonly next: NextRun | null
}
export interface NextRun {
  readonly turn: Turn
  readonly seq: Seq
  readonly fence: number
  readonly queue: InputQueue
}

/** What runs the turn that begins with the end of this one. */
export interface Successor {
  /** Its id and its trace, the same each time until it is launched or discarded. Null: nobody here can answer. */
  prepare(): NewTurn | null
  launch(next: NextRun): void
  discard(): void
}

/** `release`: the run is over, and gives the lease back. */
export type Finish = 'go-on' | 'release'

export interface RunLedgerOptions {
  readonly store: Store
  readonly committer: Committer
  readonly hub: Hub
  readonly clock: Clock
  readonly threadId: ThreadId
  readonly turn: Turn
  /** The thread's seq that `turn` was read at. */
  readonly seq: Seq
  /** The inputs that wait at `seq`. */
  readonly queue: InputQueue
  readonly fence: number
  /** As whom the lease of a turn that follows is acquired, and for how long. */
  readonly holder: string
  readonly leaseMs: number
  readonly successor: Successor
  readonly textDelayMs: number
  readonly onStopRequested: () => void
  readonly onFault: (error: unknown) => void
  /** What was not written because it cannot happen to its call (CL2). */
  readonly onIgnored?: (events: readonly CallEvent[]) => void
}

export function createRunLedger(options: RunLedgerOptions): RunLedger {
  const { store, committer, hub, clock, threadId, fence } = options
  const turnId = options.turn.id
  const buffer = createEventBuffer()
  let { turn, seq, queue } = options
  let next: NextRun | null = null
  let cancelTimer: (() => void) | null = null
  let broken: Error | null = null
  let holdsLease = true
  let flush: Promise<void> | null = null
  // One write of events at a time: if one fails, what follows must not be stored without it (LG3).
  // Nothing is lost by waiting, for the committer has one transaction under way at a time too.
  const writing: { current: Promise<unknown> | null } = { current: null }
  let inFlight: readonly NewTurnEvent[] = []
  const notifications = createDeferredNotifications(clock, () => flush !== null)

  const drain = (): readonly NewTurnEvent[] => {
    cancelTimer?.()
    cancelTimer = null
    return buffer.drain()
  }

  const expect = (): Turn => foldOn(turn, [...inFlight, ...buffer.peek()])

  const begin = async <Result>(
    events: readonly NewEvent[],
    work: () => Promise<Result>,
  ): Promise<Result> => {
    inFlight = events.filter(isTurnEvent).filter((event) => event.turnId === turnId)
    const result = work()
    writing.current = result.catch(() => undefined)
    try {
      return await result
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      inFlight = []
      writing.current = null
    }
  }

  const refusal = (result: Parameters<typeof toRefusalError>[0]): Error => {
    const error = toRefusalError(result)
    if (isRunLost(error)) holdsLease = false
    return error
  }

  /** False: somebody else wrote since; what they said has been read, and nothing of this is stored. */
  const write = async (given: readonly NewEvent[], lease: LeaseUse): Promise<boolean> => {
    // Each time anew: what others wrote since may have ended a call that these events end too (CL2).
    const { admitted: events, ignored } = admitEvents(turn, given)
    if (events.length === 0 && lease.kind === 'hold') {
      options.onIgnored?.(ignored)
      return true
    }
    const deliver = hub.announce(threadId)
    let isStored = false
    try {
      const planned = planCommit({
        ...{ threadId, events, expectedSeq: seq, turns: [turn], queue, lease },
      })
      if ('kind' in planned) throw toRefusalError(planned)
      const result = await committer.submit(planned)
      if (result.kind === 'appended') {
        // In the same tick: `expected` would count these events twice, or not at all.
        inFlight = []
        turn = planned.turns.get(turnId) ?? turn
        seq = result.seq
        queue = planned.queue ?? queue
        isStored = true
        next = toNextRun(planned, lease, result, queue)
        // The run that follows has a lease of its own.
        if (lease.kind !== 'hold') holdsLease = false
        if (ignored.length > 0) options.onIgnored?.(ignored)
        if (result.stopRequested) options.onStopRequested()
        const frame = toFrame(numberAll(events, result.firstSeq), result, planned, turn)
        notifications.add(() => deliver(events.length === 0 ? null : frame))
        return true
      }
      if (result.kind !== 'stale') throw refusal(result)
      // A thread that ends before this run's own place was made anew under its id: it is not this run's,
      // and to look again would find the same for ever.
      if (result.seq < seq) {
        holdsLease = false
        throw new FencedError('The thread of this run is gone.')
      }
      await catchUp(result.seq)
      return false
    } finally {
      if (!isStored) notifications.add(() => deliver(null))
      if (!isStored || lease.kind !== 'hold') notifications.flush()
      else clock.soon(() => notifications.flushIfDue())
    }
  }

  /** Somebody else wrote in between: read what they said about this turn. */
  const catchUp = async (upTo: Seq): Promise<void> => {
    while (seq < upTo) {
      const found = await store.readChanges({ threadId, after: seq, limit: 500, results: 'full' })
      if (found === null || found.reached <= seq) return
      for (const change of found.changes) {
        if (change.kind === 'turn' && change.turn.id === turnId) turn = change.turn
        if (change.kind === 'event' && isOf(change.event, turnId)) {
          turn = foldTurn(turn, [change.event])
        }
        queue = foldQueueChange(queue, change)
      }
      seq = found.reached
    }
    if (findInterrupt(queue) !== undefined) options.onStopRequested()
  }

  const leaseFor = ({ next: turn }: PlannedEvents, finish: Finish): LeaseUse => {
    if (turn == null) return { kind: finish === 'go-on' ? 'hold' : 'release', fence }
    const { holder, leaseMs: ttlMs } = options
    return { kind: 'acquire', holder, ttlMs, turnId: turn, overFence: fence }
  }

  /** One commit for all who ask in the same moment. */
  const gather = (): Promise<void> => {
    flush ??= new Promise<void>((resolve) => {
      clock.soon(resolve)
    }).then(() => {
      flush = null
      const written = ledger.commit()
      clock.soon(() => notifications.flushIfDue())
      return written
    })
    return flush
  }

  const ledger: RunLedger = {
    get turn() {
      return turn
    },
    get expected() {
      return expect()
    },
    fence,
    successor: options.successor,
    get queue() {
      return queue
    },
    get holdsLease() {
      return holdsLease
    },

    push(event) {
      buffer.push(event)
      cancelTimer ??= clock.after(options.textDelayMs, () => {
        cancelTimer = null
        ledger.commit().catch(options.onFault)
      })
    },

    extend: (block, delta) => buffer.extend(block, delta),

    async commit(events = []) {
      for (const event of events) buffer.push(event)
      // Not in a function of its own: two callers that wait must not both find the ledger free, or the
      // second returns while its events are still in flight with the first (CL3).
      while (writing.current !== null) await writing.current
      if (broken !== null) throw broken
      const drained = drain()
      if (drained.length === 0) return
      await begin(drained, async () => {
        while (!(await write(drained, { kind: 'hold', fence })));
      })
    },

    flushSoon() {
      if (flush === null) gather().catch(options.onFault)
    },

    commitTogether(events) {
      for (const event of events) buffer.push(event)
      return gather()
    },

    async commitIfCurrent(plan, finish) {
      while (writing.current !== null) await writing.current
      if (broken !== null) throw broken
      const planned = plan(expect(), queue)
      if (planned === null) return null
      const drained = drain()
      const events = [...drained, ...planned.events]
      const isStored = await begin(events, () => write(events, leaseFor(planned, finish)))
      if (!isStored) buffer.restore(drained)
      return isStored ? { next } : null
    },

    // A renewal says nothing: when it fails no event is missing, and the next write may go through.
    async renew(ms) {
      const lease = { kind: 'hold', fence, renewMs: ms } as const
      const planned = planCommit({ threadId, events: [], lease })
      if ('kind' in planned) return
      const result = await committer.submit(planned)
      if (result.kind === 'appended') {
        if (ms === 0) holdsLease = false
        if (result.stopRequested) options.onStopRequested()
        return
      }
      if (result.kind === 'stale') return
      const error = refusal(result)
      if (error instanceof FencedError) broken ??= error
      throw error
    },

    get pending() {
      return buffer.size
    },

    async reload() {
      drain()
      while (writing.current !== null) await writing.current
      const found = await store.findTurn(turnId)
      if (found === null || found.threadId !== threadId) {
        throw new HoldfastError('thread-not-found', 'The thread was deleted while it was answered.')
      }
      turn = found.turn
      seq = found.seq
      ;({ queue } = found)
      broken = null
    },
  }
  return ledger
}

const numberAll = (events: readonly NewEvent[], first: Seq): readonly LedgerEvent[] =>
  events.map((event, index) => ({ ...event, seq: first + index }))

function toNextRun(
  { turns }: PlannedCommit,
  lease: LeaseUse,
  { seq, fence }: Appended,
  queue: InputQueue,
): NextRun | null {
  const turn = lease.kind === 'acquire' ? turns.get(lease.turnId) : undefined
  return turn === undefined || fence === undefined ? null : { turn, seq, fence, queue }
}

const isOf = (event: object, turnId: MessageId): event is TurnEvent =>
  'turnId' in event && event.turnId === turnId
