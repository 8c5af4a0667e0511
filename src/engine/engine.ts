import { callObserver } from '../core/call-observer.ts'
import type { NewEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { Message, Turn } from '../core/message.ts'
import { findInterrupt } from '../core/queue.ts'
import type { InputQueue } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { runPaced } from '../store/pacer.ts'
import { isOtherThread } from '../core/thread-place.ts'
import { type Append, planInSteps } from '../store/plan-commit.ts'
import type { ResultMode, Store } from '../store/store.ts'
import type { AgentReason } from './agent/agent.ts'
import type { TurnPlace } from './call-scope.ts'
import { type Clock, pacerOf } from './clock.ts'
import type { CommitResult, Committer } from './run/committer.ts'
import {
  createRunHooks,
  type Hooks,
  type OpenTrace,
  type RunHooks,
  type TurnStart,
} from './telemetry/hooks.ts'
import type { EngineFiles } from './files/files.ts'
import type { Hub } from './follow/hub.ts'
import type { Offer } from './agent/offered-models.ts'
import { createHistorySource } from './model/read-history.ts'
import { createFailureTexts } from './run/failure-texts.ts'
import type { PromptMemory } from './run/prompt-memory.ts'
import type { ResultMemory } from './run/result-memory.ts'
import type { EngineOptions } from './options/options.ts'
import { type StartedRun, startRun } from './run/run.ts'
import { toFrame } from './follow/live-window.ts'
import type { NewTurn } from './run/plan-end.ts'
import { createRunLedger, type RunLedger } from './run/run-ledger.ts'
import type { NextRun, Successor } from './run/successor.ts'
import { createTitles, type Titles } from './threads/titles.ts'
import type { AgentSource } from './agent/turn-agent.ts'

/** What the operations of the engine share. */
export interface Engine extends EngineParts {
  /** Names unnamed threads (FK3). */
  readonly titles: Titles
  /**
   * Recorded turns for which `resumeRecorded` was called, with the callback for when the host application begins to
   * continue.
   */
  readonly continuations: Map<MessageId, () => void>
  /** Reads of recorded turns that may go on, after a decision. `close` waits for them: the store may be closed after it. */
  readonly reading: Set<Promise<unknown>>
  /** The runs of this process, by thread. */
  readonly runs: ReadonlyMap<ThreadId, LiveRun>
  /** From now on no request begins an answer; what runs, or is resumed by a decision, may come to its end (OP11). */
  readonly shut: () => void
  readonly isShut: () => boolean
  /** Throws after `shut`: before anything is stored, so that the client can send the same again, to another server too. */
  readonly assertOpen: () => void
  /** Hands over every run of this process, and each that begins from now on. */
  readonly handOver: () => void
  /**
   * Leases that this process holds without a live run, by thread: their runs ended without an event, because the store
   * could not be written. They are taken over regardless of the clock, which may have jumped meanwhile.
   */
  readonly givenUp: Map<ThreadId, GivenUpRun>
  /** Appends to a thread outside of a run, and delivers the events to followers. */
  readonly append: (append: Append) => Promise<CommitResult>
  /** Appends, and acquires the lease in the same commit; on success the run is live. */
  readonly begin: (begin: Begin) => Promise<CommitResult>
}

export interface LiveRun {
  readonly turnId: MessageId
  readonly run: StartedRun
  readonly ledger: RunLedger
}

export interface GivenUpRun {
  readonly turnId: MessageId
  readonly fence: number
}

export interface Begin {
  readonly threadId: ThreadId
  /** The thread's owner, from the same read as `expectedSeq`. */
  readonly ownerId: OwnerId
  readonly turnId: MessageId
  readonly how: TurnStart
  readonly events: readonly NewEvent[]
  readonly expectedSeq: Seq
  /** See `Append`. */
  readonly incarnation: string | undefined
  readonly create?: Append['create']
  /** See `Append`; also the turn itself, where it exists. */
  readonly turns: readonly Turn[]
  /** The queued inputs at `expectedSeq`. */
  readonly queue: InputQueue
  /** See `LeaseUse`. */
  readonly overFence?: number
  /** The messages before the turn, oldest first, where they have been read; else they are read when needed. */
  readonly history?: readonly Message[]
  readonly force?: boolean
  /** The thread was read at `expectedSeq`, and no turn of it runs. */
  readonly isIdle?: boolean
  /** What runs under the lease, where it is not the engine's own loop. */
  readonly work?: Work
}

export type Work = (ledger: RunLedger, hooks: RunHooks, place: TurnPlace) => StartedRun

/** The hooks that a turn's trace needs. */
type Tracing = Pick<Hooks, 'openTrace' | 'inside'>

export interface EngineParts {
  readonly store: Store
  readonly committer: Committer
  readonly hub: Hub
  readonly clock: Clock
  readonly options: EngineOptions
  readonly agents: AgentSource
  readonly files: EngineFiles
  /** The models and choices that people may select. */
  readonly offer: Offer
  readonly holder: string
  readonly promptMemory: PromptMemory
  readonly resultMemory: ResultMemory
  readonly emit: Hooks
  readonly tracing: Tracing
  readonly newMessageId: () => MessageId
  readonly newCallId: () => CallId
}

export function createEngine(parts: EngineParts): Engine {
  const { store, committer, hub, clock, options, holder } = parts
  const runs = new Map<ThreadId, LiveRun>()
  let isShut = false
  let isLeaving = false
  const givenUp = new Map<ThreadId, GivenUpRun>()

  const write = async (request: Append): Promise<Written> => {
    const planned = await runPaced(planInSteps(request), pacerOf(clock))
    if ('kind' in planned) return { result: planned, turns: new Map(), queue: null }
    const deliver = hub.announce(request.threadId)
    try {
      const result = await committer.submit(planned)
      const hasEvents = result.kind === 'appended' && request.events.length > 0
      deliver(hasEvents ? toFrame(planned.numbered, result, planned) : null)
      return { result, turns: planned.turns, queue: planned.queue }
    } catch (error) {
      deliver(null)
      throw error
    }
  }

  const launch = async (
    begin: Begin,
    { turn, seq, incarnation, fence, queue }: NextRun,
  ): Promise<StartedRun | undefined> => {
    const { threadId, turnId, ownerId, how } = begin
    const place = { ownerId, threadId, turnId }
    // While this was read, its lease may have expired and a later run of this process may have taken it over. The same
    // fence: the store learned late that this one is stored, and read the fence of that later run, which may write (CR4).
    if ((runs.get(threadId)?.ledger.fence ?? -1) >= fence) return undefined
    const hooks = createRunHooks(place, parts.emit, clock.now, parts.tracing.inside)
    // The ledger's callbacks refer to the run, which is created after it.
    const live: { run?: StartedRun } = {}
    const ledger = createRunLedger({
      store,
      committer,
      hub,
      clock,
      threadId,
      ownerId,
      turn,
      seq,
      incarnation,
      queue,
      fence,
      holder,
      leaseMs: options.leaseMs,
      successor: createSuccessor(threadId, ownerId),
      textDelayMs: options.textDelayMs,
      onStopRequested: () => live.run?.interrupt({ kind: 'stop' }),
      onFault: (error) => live.run?.interrupt({ kind: 'fault', error }),
      onIgnored: (events) => {
        for (const { type, callId } of events) if (type === 'call-settled') hooks.endIgnored(callId)
      },
    })
    const { maxOutputChars, selectHistory } = options
    const query = { threadId, before: turn.seq, maxOutputChars }
    const history = createHistorySource(store, query, selectHistory, begin.history)
    const force = begin.force ?? false
    // A run begins its first step at once, so `turn-started` has to be emitted before it.
    const { trace } = turn
    const started = withDefined({ type: 'turn-started', ...place, how } as const, { trace })
    const { fixed } = parts.agents
    parts.emit(
      fixed === undefined
        ? started
        : Object.defineProperty(started, 'context', { value: fixed.context }),
    )
    const run =
      begin.work?.(ledger, hooks, place) ??
      startRun({ ...parts, place, reason: reasonOf[how], ledger, hooks, force, history })
    live.run = run
    const entry = { turnId, run, ledger }
    runs.set(threadId, entry)
    // An interrupting input was queued before the run was launched, and no stop request will follow for it (IN4).
    if (findInterrupt(queue) !== undefined) run.interrupt({ kind: 'stop' })
    // Without a model this process cannot continue the turn: the decision is stored, and a server that has a model
    // continues it (AP5).
    const isForOthers = begin.work === undefined && !parts.agents.canAnswer
    if (isLeaving || isForOthers) run.interrupt({ kind: 'hand-over' })
    const stay = limitStay(run)
    void run.done.finally(() => {
      stay()
      if (runs.get(threadId) === entry) runs.delete(threadId)
      if (ledger.holdsLease) givenUp.set(threadId, { turnId, fence })
      if (isAnswered(ledger.turn)) titles.answered(place, run.agent?.())
    })
    return run
  }

  const createSuccessor = (threadId: ThreadId, ownerId: OwnerId): Successor => {
    let prepared: { readonly turn: NewTurn; readonly trace: OpenTrace | undefined } | undefined
    return {
      prepare() {
        if (!parts.agents.canAnswer) return null
        if (prepared === undefined) {
          const turnId = parts.newMessageId()
          const trace = openTrace(parts, { threadId, ownerId, turnId, how: 'sent' })
          prepared = { turn: withDefined({ turnId }, { trace: trace?.traceparent }), trace }
        }
        return prepared.turn
      },
      launch(next) {
        prepared = undefined
        const { turn, seq: expectedSeq, incarnation, queue } = next
        const place = { threadId, ownerId, turnId: turn.id, how: 'sent' } as const
        const release = hub.keep(threadId)
        const begin = { ...place, events: [], expectedSeq, incarnation, turns: [turn], queue }
        void launch(begin, next)
          .then(async (run) => run?.done)
          .finally(release)
      },
      discard() {
        prepared?.trace?.discard()
        prepared = undefined
      },
    }
  }

  /**
   * A run that has been in this process for `handOverAfterMs` is to continue elsewhere; work in flight may finish, but
   * not without limit (OP4).
   */
  const limitStay = (run: StartedRun): (() => void) => {
    const { handOverAfterMs, handOverGraceMs } = options
    if (handOverAfterMs === undefined || run.leave === undefined) return () => {}
    let cancel = clock.after(handOverAfterMs, () => {
      run.leave?.()
      cancel = clock.after(handOverGraceMs, () => run.interrupt({ kind: 'hand-over' }))
    })
    return () => cancel()
  }

  const append: Engine['append'] = async (request) => (await write(request)).result
  const titles = createTitles({ ...parts, append, options: options.title })

  return {
    ...parts,
    titles,
    continuations: new Map(),
    reading: new Set(),
    runs,
    shut() {
      isShut = true
    },
    isShut: () => isShut,
    assertOpen() {
      if (isShut) throw closing()
    },
    handOver() {
      isLeaving = true
      for (const { run } of runs.values()) run.interrupt({ kind: 'hand-over' })
    },
    givenUp,
    append,
    async begin(begin) {
      const { threadId, turnId, events, create, turns, queue, overFence } = begin
      const { expectedSeq, incarnation } = begin
      const own = runs.get(threadId)
      if (own !== undefined && isRunningHere(own, begin)) {
        return { kind: 'leased', holder, turnId: own.turnId, fence: own.ledger.fence }
      }
      const release = hub.keep(threadId)
      const opened = openTrace(parts, begin)
      let run: StartedRun | undefined
      try {
        const {
          result,
          turns: after,
          queue: waiting,
        } = await write({
          threadId,
          events: opened === undefined ? events : traced(events, opened.traceparent),
          expectedSeq,
          incarnation,
          turns,
          queue,
          lease: withDefined({ kind: 'acquire', holder, ttlMs: options.leaseMs, turnId } as const, {
            overFence,
          }),
          ...(create === undefined ? {} : { create }),
        })
        const turn = after.get(turnId) ?? turns.find(({ id }) => id === turnId)
        if (result.kind === 'appended' && result.fence !== undefined && turn !== undefined) {
          const { seq, fence } = result
          const next = { turn, seq, incarnation: result.incarnation, fence }
          run = await launch(begin, { ...next, queue: waiting ?? queue })
        }
        return result
      } finally {
        if (run === undefined) opened?.discard()
        if (run === undefined) release()
        else void run.done.finally(release)
      }
    },
  }
}

export const closing = (): HoldfastError =>
  new HoldfastError(
    'closing',
    'This server is closing. Nothing was stored: try again in a moment.',
    { isTemporary: true },
  )

/** An answer that was broken off or failed is no basis for a title. */
const isAnswered = ({ progress }: Turn): boolean =>
  progress.status === 'ended' && progress.ending.kind === 'completed'

/** For a turn that begins; one that is continued has its trace. A tracer that throws must not fail the turn. */
function openTrace(
  { tracing: { openTrace: open }, options, emit }: EngineParts,
  { threadId, ownerId, turnId, how }: Pick<Begin, 'threadId' | 'ownerId' | 'turnId' | 'how'>,
): OpenTrace | undefined {
  if (open === undefined || how !== 'sent') return undefined
  const place = { ownerId, threadId, turnId }
  const { ofObserver } = createFailureTexts(place, options.errorText, (where, error) =>
    emit({ type: 'failed', ...where, error }),
  )
  const call = (work: () => unknown) =>
    callObserver(work, (thrown) => ofObserver('hooks.openTrace', thrown))
  let opened: OpenTrace | undefined
  call(() => {
    const trace = open(place)
    if (typeof trace?.traceparent !== 'string') return trace
    const { traceparent } = trace
    opened = { traceparent, discard: () => call(() => trace.discard()) }
    return undefined
  })
  return opened
}

const traced = (events: readonly NewEvent[], trace: string): readonly NewEvent[] =>
  events.map((event) => (event.type === 'turn-started' ? { ...event, trace } : event))

const reasonOf = {
  sent: 'begin',
  continued: 'begin',
  resumed: 'resume',
  'taken-over': 'takeover',
} as const satisfies Record<TurnStart, AgentReason>

/**
 * Whether this process really runs the turn. A run of this process is late, not dead, whatever the clock says about its
 * lease: the clock may have jumped, or run on while the process was busy. A run whose thread was deleted is not under way
 * in another that has its id. And if the stored turn no longer runs, another process has taken it over: the run notices
 * with its next write, which may take long, and must not block new messages until then.
 */
function isRunningHere({ turnId, ledger }: LiveRun, begin: Begin): boolean {
  const { turns, expectedSeq: seq, incarnation, isIdle } = begin
  const { progress, lastSeq } = ledger.turn
  if (progress.status !== 'running' || isIdle === true) return false
  const known = { seq: lastSeq, incarnation: ledger.incarnation }
  if (isOtherThread(known, { seq, incarnation })) return false
  const stored = turns.find(({ id }) => id === turnId)
  return stored === undefined || stored.progress.status === 'running'
}

interface Written {
  readonly result: CommitResult
  /** The turns of the append, as they are if it was stored. */
  readonly turns: ReadonlyMap<MessageId, Turn>
  /** The queued inputs if it was stored; null: unchanged. */
  readonly queue: InputQueue | null
}

export async function readTurn(
  store: Store,
  threadId: ThreadId,
  id: MessageId,
  results?: ResultMode,
): Promise<Turn> {
  const message = await store.readMessage(threadId, id, results)
  if (message?.role === 'assistant') return message
  throw new HoldfastError('message-not-found', 'There is no such message.')
}
