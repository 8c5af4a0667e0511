import { admitEvents } from '../../core/admit-events.ts'
import { isTurnEvent, type NewEvent, type NewTurnEvent, type TurnEvent } from '../../core/event.ts'
import { foldOn, foldTurn } from '../../core/fold-turn.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallEvent } from '../../core/lifecycle.ts'
import type { Turn } from '../../core/message.ts'
import { findInterrupt, foldQueueChange } from '../../core/queue.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import type { Appended, LeaseUse } from '../../store/lease.ts'
import { isAnother, isOtherThread } from '../../core/thread-place.ts'
import { planCommit, type PlannedCommit } from '../../store/plan-commit.ts'
import type { Store } from '../../store/store.ts'
import { FencedError, isRunLost, toRefusalError } from './append-refusal.ts'
import type { Clock } from '../clock.ts'
import type { Committer } from './committer.ts'
import { createEventBuffer } from './event-buffer.ts'
import { createDeferredNotifications } from './deferred-notifications.ts'
import { firstPortion, isLargeCommit, type LargePlace } from './large-commits.ts'
import type { Hub } from '../follow/hub.ts'
import { toFrame } from '../follow/live-window.ts'
import { createOneRenewal } from './one-renewal.ts'
import type { NextRun, Successor } from './successor.ts'

/**
 * The only way a run writes. `turn` is the fold of committed events, never of pending ones. Other writers may
 * append to the turn meanwhile (a decision, for example); their events are folded into it too.
 */
export interface RunLedger {
  readonly turn: Turn
  /** The turn as it will be once the pending events are committed: to plan with, never to show. */
  readonly expected: Turn
  readonly fence: number
  /** The incarnation of its thread; undefined: not known (OP6). */
  readonly incarnation: string | undefined
  /** The queued inputs, as of what has been committed or read. */
  readonly queue: InputQueue
  readonly successor: Successor
  /**
   * Whether this run still holds its lease, as far as it has seen: it has not released it, and no write was refused
   * because another process had acquired it. A run that ends while this is true leaves behind a turn that is stored
   * as running (see `Engine.givenUp`).
   */
  readonly holdsLease: boolean
  /** For text and the like: committed within `textDelayMs`, together with whatever else is pushed until then. */
  push(event: NewTurnEvent): void
  /** Extends the text that was pushed last; false if it cannot be merged and has to be pushed. */
  extend(block: string, delta: string): boolean
  /**
   * Commits what was pushed without waiting for `textDelayMs`, together with everything else that is pushed in this
   * tick.
   */
  flushSoon(): void
  /**
   * Commits these events at once, but in one write with everything else that is submitted in the same tick: ten
   * results that arrive together cost one flush, not two.
   */
  commitTogether(events: readonly NewTurnEvent[]): Promise<void>
  /** Commits everything pushed so far, and these events, now. Rejects if nothing of it was stored. */
  commit(events?: readonly NewTurnEvent[]): Promise<void>
  /**
   * Commits everything pushed so far, and what is planned on top of it, in one commit; but only if no other writer
   * appended meanwhile. Null: nothing was stored, and the caller has to plan again. A plan of null commits nothing.
   */
  commitIfCurrent(plan: Plan, finish: Finish): Promise<StoredPlan | null>
  /**
   * Renews the lease, and finds whether the run is to stop or has lost it. One renewal is in flight at a time, however long
   * it takes: calls meanwhile share one that follows it. With 0 the lease is handed over, and not renewed any more.
   */
  renew(ms: number): Promise<void>
  /** The number of events that wait for the next commit. */
  readonly pending: number
  /**
   * After a failed write the ledger refuses every further one, or a later event would be stored while an earlier
   * one is missing (LG3). `reload` discards what was not stored and reads what was.
   */
  reload(): Promise<void>
}

/** `next`: the turn that these events begin; its lease is acquired in place of this run's own. */
export interface PlannedEvents {
  readonly events: readonly NewEvent[]
  readonly next?: MessageId | null
}
export type Plan = (turn: Turn, queue: InputQueue) => PlannedEvents | null

export interface StoredPlan {
  /** What the run of the next turn begins with. */
  readonly next: NextRun | null
}

/** `release`: the run is over, and its lease is released with the commit. */
export type Finish = 'go-on' | 'release'

export interface RunLedgerOptions {
  readonly store: Store
  readonly committer: Committer
  readonly hub: Hub
  readonly clock: Clock
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly turn: Turn
  /** The thread's seq that `turn` was read at, and its incarnation. */
  readonly seq: Seq
  readonly incarnation: string | undefined
  /** The inputs that wait at `seq`. */
  readonly queue: InputQueue
  readonly fence: number
  /** The holder and duration of the lease of a turn that follows. */
  readonly holder: string
  readonly leaseMs: number
  readonly successor: Successor
  readonly textDelayMs: number
  readonly onStopRequested: () => void
  readonly onFault: (error: unknown) => void
  /** Called with events that were not written because they are not allowed in the state of their call (CL2). */
  readonly onIgnored?: (events: readonly CallEvent[]) => void
}

export function createRunLedger(options: RunLedgerOptions): RunLedger {
  const { store, committer, hub, clock, threadId, ownerId, incarnation, fence } = options
  const turnId = options.turn.id
  const buffer = createEventBuffer()
  let { turn, seq, queue } = options
  let next: NextRun | null = null
  let cancelTimer: (() => void) | null = null
  let broken: Error | null = null
  let holdsLease = true
  /** A write that releases the lease, or acquires that of the next turn in its place, is in flight. */
  let isReleasing = false
  let flush: Promise<void> | null = null
  // One write of events at a time: if one fails, the events after it must not be stored without it (LG3). Waiting
  // costs nothing, for the committer has one transaction in flight at a time too.
  const writing: { current: Promise<unknown> | null } = { current: null }
  let inFlight: readonly NewTurnEvent[] = []
  // `turn` with the events in flight. Null: must be folded again, because one of the two has changed.
  let turnInFlight: Turn | null = null
  const notifications = createDeferredNotifications(clock, () => flush !== null)

  const drain = (): readonly NewTurnEvent[] => {
    cancelTimer?.()
    cancelTimer = null
    return buffer.drain()
  }
  const startTimer = () => {
    cancelTimer ??= clock.after(options.textDelayMs, () => {
      cancelTimer = null
      ledger.commit().catch(options.onFault)
    })
  }
  /** Events that were drained and are not stored: nothing may be stored before them (LG3). */
  const restore = (drained: readonly NewTurnEvent[]) => {
    if (drained.length === 0) return
    buffer.restore(drained)
    startTimer()
  }
  /** Of large results no more than one commit may have; the rest stays in the buffer. */
  const drainPortion = (): readonly NewTurnEvent[] => {
    const drained = drain()
    const portion = firstPortion(drained)
    restore(drained.slice(portion.length))
    return portion
  }

  // The last `expected`, and what it was folded from: only events pushed since are folded onto it. Otherwise each
  // read would fold all events in flight and buffered again.
  let folded = { on: turn, revision: buffer.revision, size: 0, expected: turn }
  const expect = (): Turn => {
    if (inFlight.length > 0) turnInFlight ??= foldOn(turn, inFlight)
    const on = turnInFlight ?? turn
    const { revision } = buffer
    const pushed = buffer.peek()
    if (folded.on !== on || folded.revision !== revision) {
      folded = { on, revision, size: 0, expected: on }
    }
    if (folded.size < pushed.length) {
      const expected = foldOn(folded.expected, pushed.slice(folded.size))
      folded = { on, revision, size: pushed.length, expected }
    }
    return folded.expected
  }
  const setInFlight = (events: readonly NewTurnEvent[]) => {
    inFlight = events
    turnInFlight = null
  }
  const setTurn = (changed: Turn) => {
    turn = changed
    turnInFlight = null
  }

  const begin = async <Result>(
    events: readonly NewEvent[],
    work: () => Promise<Result>,
  ): Promise<Result> => {
    setInFlight(events.filter(isTurnEvent).filter((event) => event.turnId === turnId))
    const result = work()
    writing.current = result.catch(() => undefined)
    try {
      return await result
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      setInFlight([])
      writing.current = null
    }
  }

  const refusal = (result: Parameters<typeof toRefusalError>[0]): Error => {
    const error = toRefusalError(result)
    if (isRunLost(error)) holdsLease = false
    return error
  }

  /** False: another writer appended meanwhile; its events have been read, and nothing of this write is stored. */
  const write = (given: readonly NewEvent[], lease: LeaseUse): Promise<boolean> =>
    isLargeCommit(given) ? writeLarge(given, lease) : writeNow(given, lease)

  const writeLarge = async (given: readonly NewEvent[], lease: LeaseUse): Promise<boolean> => {
    const place = await committer.enterLarge(ownerId)
    try {
      return await writeNow(given, lease, place)
    } finally {
      // The committer has left it, unless it was refused before that.
      place.leave()
    }
  }

  const writeNow = async (
    given: readonly NewEvent[],
    lease: LeaseUse,
    place: LargePlace | null = null,
  ): Promise<boolean> => {
    // A run that has handed its lease over is not fenced before another has acquired it.
    if (!holdsLease) throw new FencedError('This run no longer holds its lease.')
    // On every attempt: another writer may have ended a call that these events end too (CL2).
    const { admitted: events, ignored } = admitEvents(turn, given)
    if (events.length === 0 && lease.kind === 'hold') {
      options.onIgnored?.(ignored)
      return true
    }
    const deliver = hub.announce(threadId)
    let isStored = false
    try {
      const read = { threadId, expectedSeq: seq, incarnation, turns: [turn], queue }
      const planned = planCommit({ ...read, events, lease })
      if ('kind' in planned) throw toRefusalError(planned)
      turnInFlight = planned.turns.get(turnId) ?? null
      isReleasing = lease.kind !== 'hold'
      // `run` is passed because the lease does not show it: an end that begins the next turn acquires one, as a person's
      // message does, and would be given up at the first fault together with the last text of the turn (LG3a).
      const result = await committer.submit(planned, 'run', place)
      if (result.kind === 'appended') {
        // Must run in the same tick as the update of `turn`, or `expected` counts these events twice, or not at
        // all.
        setInFlight([])
        setTurn(planned.turns.get(turnId) ?? turn)
        seq = result.seq
        queue = planned.queue ?? queue
        isStored = true
        next = toNextRun(planned, lease, result, queue)
        // A following run has a lease of its own.
        if (lease.kind !== 'hold') holdsLease = false
        if (ignored.length > 0) options.onIgnored?.(ignored)
        if (result.stopRequested) options.onStopRequested()
        const frame = toFrame(planned.numbered, result, planned, turn)
        notifications.add(() => deliver(events.length === 0 ? null : frame))
        return true
      }
      if (result.kind !== 'stale') throw refusal(result)
      await catchUp()
      return false
    } finally {
      isReleasing = false
      if (!isStored) notifications.add(() => deliver(null))
      if (!isStored || lease.kind !== 'hold') notifications.flush()
      else clock.soon(() => notifications.flushIfDue())
    }
  }

  /** Reads what other writers have appended about this turn and the queue. */
  const catchUp = async (): Promise<void> => {
    for (let isBehind = true; isBehind;) {
      const found = await store.readChanges({ threadId, after: seq, limit: 500, results: 'full' })
      if (found === null) throw refusal({ kind: 'no-thread' })
      // Another thread that has its id refuses every write of this run: trying again would never end.
      if (isOtherThread({ seq, incarnation }, found)) {
        holdsLease = false
        throw new FencedError('The thread of this run is gone.')
      }
      for (const change of found.changes) {
        if (change.kind === 'turn' && change.turn.id === turnId) setTurn(change.turn)
        if (change.kind === 'event' && isOf(change.event, turnId)) {
          setTurn(foldTurn(turn, [change.event]))
        }
        queue = foldQueueChange(queue, change)
      }
      isBehind = seq < found.reached && found.reached < found.seq
      seq = found.reached
    }
    if (findInterrupt(queue) !== undefined) options.onStopRequested()
  }

  const leaseFor = ({ next: turn }: PlannedEvents, finish: Finish): LeaseUse => {
    if (turn == null) return { kind: finish === 'go-on' ? 'hold' : 'release', fence }
    const { holder, leaseMs: ttlMs } = options
    return { kind: 'acquire', holder, ttlMs, turnId: turn, overFence: fence }
  }

  // A renewal carries no events: when it fails no event is missing, and the next write may succeed.
  const sendRenewal = async (ms: number): Promise<void> => {
    if (!holdsLease) return
    const lease = { kind: 'hold', fence, renewMs: ms } as const
    const planned = planCommit({ threadId, events: [], lease })
    if ('kind' in planned) return
    const result = await committer.submit(planned, 'run')
    if (!holdsLease) return
    if (result.kind === 'appended') {
      if (ms === 0) holdsLease = false
      if (result.stopRequested) options.onStopRequested()
      return
    }
    // A renewal is in no order with the writes of its run: the one that releases the lease fences it, and its own result
    // decides. Without this, a turn that waits for a person would be reported as lost.
    if (result.kind === 'stale' || isReleasing) return
    const error = refusal(result)
    if (error instanceof FencedError) broken ??= error
    throw error
  }

  /** One commit for all that is submitted in the same tick. */
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
    incarnation,
    successor: options.successor,
    get queue() {
      return queue
    },
    get holdsLease() {
      return holdsLease
    },

    push(event) {
      buffer.push(event)
      startTimer()
    },

    extend: (block, delta) => buffer.extend(block, delta),

    async commit(events = []) {
      for (const event of events) buffer.push(event)
      let left: number | undefined
      do {
        // Not in a function of its own: two callers that wait must not both find the ledger free, or the second
        // returns while its events are still in flight with the first (CL3).
        while (writing.current !== null) await writing.current
        if (broken !== null) throw broken
        // Counted only now: who wrote before may have put events back in front of these.
        left ??= buffer.size
        const portion = drainPortion()
        if (portion.length === 0) return
        left -= portion.length
        await begin(portion, async () => {
          while (!(await write(portion, { kind: 'hold', fence })));
        })
      } while (left > 0)
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
      const isStored = await begin(events, async () => {
        const isWritten = await write(events, leaseFor(planned, finish))
        // Before anybody else may write.
        if (!isWritten) restore(drained)
        return isWritten
      })
      return isStored ? { next } : null
    },

    renew: createOneRenewal(sendRenewal),

    get pending() {
      return buffer.size
    },

    async reload() {
      drain()
      while (writing.current !== null) await writing.current
      const found = await store.findTurn(turnId)
      // Its seq may be lower than this run's: a standby took over without the newest commits.
      const isGone =
        found?.threadId !== threadId || isAnother(incarnation ?? '', found.incarnation ?? '')
      if (isGone) throw refusal({ kind: 'no-thread' })
      setTurn(found.turn)
      seq = found.seq
      ;({ queue } = found)
      broken = null
    },
  }
  return ledger
}

function toNextRun(
  { turns }: PlannedCommit,
  lease: LeaseUse,
  { seq, incarnation, fence }: Appended,
  queue: InputQueue,
): NextRun | null {
  const turn = lease.kind === 'acquire' ? turns.get(lease.turnId) : undefined
  return turn === undefined || fence === undefined ? null : { turn, seq, incarnation, fence, queue }
}

const isOf = (event: object, turnId: MessageId): event is TurnEvent =>
  'turnId' in event && event.turnId === turnId
