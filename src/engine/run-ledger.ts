import { admitEvents } from '../core/admit-events.ts'
import type { NewTurnEvent, TurnEvent } from '../core/event.ts'
import { foldTurn } from '../core/fold-turn.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { CallEvent } from '../core/life.ts'
import type { Turn } from '../core/message.ts'
import type { Append, AppendResult, Store } from '../store/store.ts'
import { FencedError, toRefusalError } from './append-refusal.ts'
import type { Clock } from './clock.ts'
import type { Committer } from './committer.ts'
import { createEventBuffer } from './event-buffer.ts'
import { createHeldNews } from './held-news.ts'
import type { Hub } from './hub.ts'
import { type Frame, toFrame } from './tail.ts'

/**
 * The one way a run writes. What it holds as `turn` is the fold of what has been committed, never of
 * what is about to be; others may write to the turn meanwhile (a decision), and their facts are in it.
 */
export interface RunLedger {
  readonly turn: Turn
  /** The turn as it will be once what waits is committed: to plan with, never to show. */
  readonly expected: Turn
  readonly fence: number
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
   * else wrote meanwhile. False: look again. A plan of null commits nothing.
   */
  commitIfCurrent(plan: Plan, finish: Finish): Promise<boolean>
  renew(ms: number): Promise<void>
  /** How many facts wait for the next commit. */
  readonly pending: number
  /**
   * After a failed write nothing more is written, or a later fact would stand where an earlier one is
   * missing (LG3). This gives up what was not stored and reads anew what was.
   */
  reload(): Promise<void>
}

export type Plan = (turn: Turn) => readonly NewTurnEvent[] | null

/** `release`: the run is over. `seal`: so is the turn. */
export type Finish = 'go-on' | 'release' | 'seal'

export interface RunLedgerOptions {
  readonly store: Store
  readonly committer: Committer
  readonly hub: Hub
  readonly clock: Clock
  readonly threadId: ThreadId
  readonly turn: Turn
  /** The thread's seq that `turn` was read at. */
  readonly seq: Seq
  readonly fence: number
  readonly textDelayMs: number
  readonly onStopRequested: () => void
  readonly onFault: (error: unknown) => void
  /** What was not written because it cannot happen to its call (CL2). */
  readonly onIgnored?: (events: readonly CallEvent[]) => void
}

export function createRunLedger(options: RunLedgerOptions): RunLedger {
  const { store, committer, hub, clock, threadId, fence } = options
  const buffer = createEventBuffer()
  let { turn, seq } = options
  let cancelTimer: (() => void) | null = null
  let last: Promise<unknown> = Promise.resolve()
  let broken: Error | null = null
  let flush: Promise<void> | null = null
  const underWay: (readonly NewTurnEvent[])[] = []
  const news = createHeldNews(clock, () => flush !== null)

  const take = (): readonly NewTurnEvent[] => {
    cancelTimer?.()
    cancelTimer = null
    return buffer.take()
  }

  /** Must be called with nothing under way, or `turn` is not what these events will meet. */
  const takeAdmitted = (): readonly NewTurnEvent[] => {
    const { admitted, ignored } = admitEvents(turn, take())
    if (ignored.length > 0) options.onIgnored?.(ignored)
    return admitted
  }

  /**
   * The store refused what this run thought legal, so somebody else has written about the same calls.
   * If nobody has, the ledger and this run disagree, and nothing more may be written.
   */
  const lookAgain = async (refused: Illegal, events: readonly NewTurnEvent[]): Promise<void> => {
    const before = seq
    await catchUp(Number.POSITIVE_INFINITY)
    if (seq > before) return
    const error = toRefusalError(refused)
    breakOff(events, error)
    throw error
  }

  /** What `turn` becomes with these: kept, because they are most often committed next. */
  let ahead: (Folded & { readonly from: Turn; readonly events: readonly NewTurnEvent[] }) | null =
    null

  const expect = (): Turn => {
    const events = [...underWay.flat(), ...buffer.peek()]
    if (events.length === 0) return turn
    ahead = { from: turn, events, ...foldOn(events, turn.lastSeq + 1) }
    return ahead.to
  }

  /** Folds onto the turn, but for what has been folded onto it ahead. */
  const foldOn = (events: readonly NewTurnEvent[], first: Seq): Folded => {
    const known = ahead?.from === turn && isStart(ahead.events, events) ? ahead : null
    if (known?.facts[0]?.seq !== first) {
      const facts = number(events, first)
      return { facts, to: foldTurn(turn, facts) }
    }
    const count = known.facts.length
    const more = number(events.slice(count), first + count)
    return { facts: [...known.facts, ...more], to: foldTurn(known.to, more) }
  }

  const submit = (append: Omit<Append, 'threadId'>): Promise<AppendResult> => {
    if (broken !== null) return Promise.reject(broken)
    const events = append.events as readonly NewTurnEvent[]
    underWay.push(events)
    const tell = hub.announce(threadId)
    const isLast = append.lease?.kind === 'release'
    const result = committer.submit({ threadId, ...append })
    // Results are taken in the order of the writes, so that the turn is folded in order too.
    const settled = last.then(async () => {
      let frame: Frame | null = null
      try {
        const outcome = await result
        if (outcome.kind === 'appended') {
          if (outcome.stopRequested) options.onStopRequested()
          if (outcome.firstSeq !== seq + 1) await catchUp(outcome.firstSeq - 1)
          frame = absorb(events, outcome)
        } else if (outcome.kind !== 'stale' && outcome.kind !== 'illegal')
          throw toRefusalError(outcome)
        return outcome
      } catch (error) {
        breakOff(events, error)
        throw error
      } finally {
        // In one breath with the fold: what is no longer under way is in the turn, or lost.
        underWay.shift()
        news.add(() => tell(frame))
        if (isLast || broken !== null) news.tell()
        else clock.soon(() => news.tellIfDue())
      }
    })
    last = settled.catch(() => undefined)
    return settled
  }

  const breakOff = (events: readonly NewTurnEvent[], error: unknown): void => {
    // A renewal says nothing: when it fails no fact is missing, and the next write may go through.
    if (events.length === 0 && !(error instanceof FencedError)) return
    broken ??= error instanceof Error ? error : new Error(String(error))
  }

  /** Takes what was committed into the turn, and gives it as its followers get it. */
  const absorb = (events: readonly NewTurnEvent[], result: Appended): Frame | null => {
    const { facts, to } = foldOn(events, result.firstSeq)
    turn = to
    ahead = null
    seq = result.seq
    return facts.length === 0 ? null : toFrame(facts, result, turn)
  }

  /** Somebody else wrote in between: read what they said about this turn. */
  const catchUp = async (upTo: Seq): Promise<void> => {
    while (seq < upTo) {
      const found = await store.readChanges({ threadId, after: seq, limit: 500, results: 'full' })
      if (found === null || found.reached <= seq) return
      for (const change of found.changes) {
        if (change.kind === 'turn' && change.turn.id === turn.id) turn = change.turn
        if (change.kind === 'event' && isOf(change.event, turn.id)) {
          turn = foldTurn(turn, [change.event])
        }
      }
      seq = found.reached
    }
  }

  const leaseFor = (finish: Finish): Pick<Append, 'lease' | 'seal'> => ({
    lease: { kind: finish === 'go-on' ? 'hold' : 'release', fence },
    ...(finish === 'seal' ? { seal: [turn.id] } : {}),
  })

  /** One commit for all who ask in the same moment. */
  const gather = (): Promise<void> => {
    flush ??= new Promise<void>((resolve) => {
      clock.soon(resolve)
    }).then(() => {
      flush = null
      const written = ledger.commit()
      clock.soon(() => news.tellIfDue())
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
      // One write at a time: if one fails, what follows must not be stored without it (LG3). Nothing
      // is lost by waiting, for the committer has one transaction under way at a time too.
      for (;;) {
        while (underWay.length > 0) await last
        const facts = takeAdmitted()
        if (facts.length === 0) break
        const result = await submit({ events: facts, ...leaseFor('go-on') })
        if (result.kind !== 'illegal') return
        buffer.restore(facts)
        await lookAgain(result, facts)
      }
      if (broken !== null) throw broken
    },

    flushSoon() {
      if (flush === null) gather().catch(options.onFault)
    },

    commitTogether(events) {
      for (const event of events) buffer.push(event)
      return gather()
    },

    async commitIfCurrent(plan, finish) {
      while (underWay.length > 0) await last
      if (broken !== null) throw broken
      const expected = expect()
      const planned = plan(expected)
      if (planned === null) return false
      const facts = takeAdmitted()
      const events = [...facts, ...planned]
      const folded =
        finish === 'seal'
          ? { folded: foldTurn(expected, number(planned, expected.lastSeq + 1)) }
          : {}
      const result = await submit({ events, ...leaseFor(finish), expectedSeq: seq, ...folded })
      if (result.kind === 'appended') return true
      buffer.restore(facts)
      if (result.kind === 'stale') await catchUp(result.seq)
      if (result.kind === 'illegal') await lookAgain(result, events)
      return false
    },

    async renew(ms) {
      await submit({ events: [], lease: { kind: 'hold', fence, renewMs: ms } })
    },

    get pending() {
      return buffer.size
    },

    async reload() {
      take()
      await last
      const thread = await store.readThread(threadId)
      const stored = await store.readMessage(threadId, turn.id)
      if (thread === null || stored?.role !== 'assistant') {
        throw new HoldfastError('thread-not-found', 'The thread was deleted while it was answered.')
      }
      // The two reads are not one: a turn that is newer than the seq only makes the next write look again.
      turn = stored
      seq = thread.seq
      broken = null
    },
  }
  return ledger
}

const number = (events: readonly NewTurnEvent[], first: Seq): readonly TurnEvent[] =>
  events.map((event, index) => ({ ...event, seq: first + index }))

const isStart = (start: readonly unknown[], whole: readonly unknown[]): boolean =>
  start.length <= whole.length && start.every((item, index) => item === whole[index])

interface Folded {
  readonly facts: readonly TurnEvent[]
  readonly to: Turn
}
type Appended = Extract<AppendResult, { readonly kind: 'appended' }>
type Illegal = Extract<AppendResult, { readonly kind: 'illegal' }>

const isOf = (event: object, turnId: MessageId): event is TurnEvent =>
  'turnId' in event && event.turnId === turnId
