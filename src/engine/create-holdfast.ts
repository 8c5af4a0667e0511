import type { ModelMessage } from 'ai'
import {
  type CallId,
  type MessageId,
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
  type ThreadId,
} from '../core/ids.ts'
import { addToolOutputs, type ToolOutputResult } from './add-tool-outputs.ts'
import { checkOptions, longestTimerMs, milliseconds } from '../core/check-options.ts'
import { appendThreadEvents } from './append-thread-events.ts'
import { type Clock, systemClock, wait, pauseOf } from './clock.ts'
import {
  type ClientToolOutput,
  type OldDecision,
  type OldResolution,
  type OldToolOutput,
  toDecisionRequest,
  toGivenOutput,
  type ToolDecision,
  type ToolResolution,
  toResolveRequest,
} from './call-requests.ts'
import { createCommitter } from './committer.ts'
import { type DecisionResult, decideCalls } from './decide.ts'
import { createEngine } from './engine.ts'
import { toFileLimits } from './file-options.ts'
import { createFiles, type Files } from './files.ts'
import { type Hooks, safely } from './hooks.ts'
import { createHub, type ReadGate } from './hub.ts'
import { createLibrary, type Library } from './library.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { assertReady } from './readiness.ts'
import { type AgentDescription, createOffer } from './offered-models.ts'
import { checkHoldfastOptions, modelRule } from './option-rules.ts'
import { warnOnce } from './old-names.ts'
import { type HoldfastOptions, withDefaults } from './options.ts'
import { withParsedIds } from './parsed-ids.ts'
import { type Recording, record } from './record.ts'
import type { RecordRequest } from './record-request.ts'
import type { RecordedSource } from './recorded-parts.ts'
import { recoverAbandoned } from './recover.ts'
import { readModelMessages } from './resume-recorded.ts'
import { type ResolveResult, resolveCall } from './resolve.ts'
import { type ContinueResult, continueTurn } from './resume.ts'
import { isRunLost } from './append-refusal.ts'
import {
  type RegenerateRequest,
  regenerate,
  type SendRequest,
  type SendResult,
  send,
} from './send.ts'
import { type StopResult, stopRun } from './stop.ts'
import type { ThreadScope } from './thread-scope.ts'
import type { Frame } from './live-window.ts'
import { createToolCallRepository, type ToolCallRepository } from './tool-calls.ts'
import { noToolbox, type Toolbox } from './tool-policy.ts'
import { createAgentSource } from './turn-agent.ts'
import { warnDeprecated } from './warn-deprecated.ts'
import type { Store } from '../store/store.ts'

export interface Holdfast extends Library {
  readonly store: Store
  /** Files that messages name. */
  readonly files: Files
  /** The tools of every turn, where the agent is an object; empty where it is a function, for then each turn has its own. */
  readonly toolbox: Toolbox
  newThreadId(): ThreadId
  /** What a person may choose for an answer: models, and the JSON Schema of `choices` (AG2). */
  describeAgent(scope: { readonly ownerId: string }): Promise<AgentDescription>
  /**
   * False if there is no such thread.
   * @deprecated `threads.update(threadId, { title })`; goes with 1.0.
   */
  rename(threadId: ThreadId, title: string): Promise<boolean>
  /** Stores a user message and answers it. */
  send(request: SendRequest): Promise<SendResult>
  regenerate(request: RegenerateRequest): Promise<SendResult>
  continue(threadId: ThreadId): Promise<ContinueResult>
  stop(threadId: ThreadId): Promise<StopResult>
  decide(request: DecideRequest): Promise<readonly DecisionResult[]>
  resolve(request: ToolResolution | OldResolution): Promise<ResolveResult>
  /** Results of tools that the client runs. One answer for each: whether it was taken, or came too late. */
  addToolOutputs(
    threadId: ThreadId,
    outputs: readonly (ClientToolOutput | OldToolOutput)[],
  ): Promise<readonly ToolOutputResult[]>
  /** Everything committed to a thread after a seq, in order, once, then live, from any process. */
  subscribe(
    threadId: ThreadId,
    after: Seq,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  /**
   * Stores the stream of a loop that the host runs itself: `result.stream` of a `streamText`, a UI
   * message stream, or plain text. With a message it answers that; with `{continue: turnId}` it goes on
   * with the thread's last turn, after an approval or a result of the client.
   */
  record(source: RecordedSource, request: RecordRequest): Promise<Recording>
  /**
   * What a model is to be sent of the thread, from the ledger: for the host's own loop. A call that was
   * accepted and has not run is in it as the AI SDK wants it, so that `streamText` runs it.
   */
  modelMessages(threadId: ThreadId): Promise<ModelMessage[]>
  /** For people who run their own loop and write its calls themselves. */
  readonly toolCalls: ToolCallRepository
  /** Looks for runs whose process died, now. The engine does this by itself from time to time. */
  recover(): Promise<number>
  readonly clock: Clock
  /** `interrupted` while writes do not get through to the store: runs wait for it, and new messages are refused. */
  readonly saving: () => 'ok' | 'interrupted'
  /**
   * Rejects, with a `reason`, if the store does not answer or does not take what is written, if writes have waited
   * for seconds, the disk is full, or changes of other servers are not heard of.
   */
  ready(): Promise<void>
  metrics(): Metrics & { readonly runs: number; readonly followers: number }
  /** The threads that this process is answering. */
  running(): readonly ThreadId[]
  /** Resolves when no run of this process, or of one thread in it, is under way. */
  settled(threadId?: ThreadId): Promise<void>
  /** Takes no more runs, lets those under way finish for a while, then hands them over. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

export interface DecideRequest extends ThreadScope {
  readonly threadId: ThreadId
  readonly by: string
  readonly decisions: readonly (ToolDecision | OldDecision)[]
}

/**
 * The engine of one process: takes messages, runs turns, and tells whoever follows.
 *
 * Every option is checked first: an unknown name, or a value outside its range, is a `HoldfastError` with
 * the code `bad-option`, and nothing has been made. docs/guides/options.md lists them all.
 */
export function createHoldfast<Context = unknown, Choices = unknown>(
  given: HoldfastOptions<Context, Choices>,
): Holdfast {
  // Inside, contexts and choices are values that are handed on.
  const options = given as unknown as HoldfastOptions
  checkHoldfastOptions(options)
  if (options.modelRetries !== undefined) warnOnce('modelRetries', 'maxRetries')
  const { store } = options
  const clock = options.clock ?? systemClock
  const metrics = createMetrics()
  const callHooks = safely(options.hooks ?? logFailure)
  const emit: Hooks = (event) => {
    metrics.count(event)
    callHooks(event)
  }
  const chosen = withDefaults(options)
  const offer = createOffer(
    {
      models: options.models,
      choices: options.choices,
      timeoutMs: chosen.agentTimeoutMs,
      modelRule,
    },
    clock,
  )
  const newId = options.newId ?? randomId
  const newCallId = (): CallId => parseCallId(newId('call'))
  const hub = createHub(store, clock)
  const committer = createCommitter(store, clock, {
    committed: (appends, events, ms) => emit({ type: 'committed', appends, events, ms }),
  })
  const files = createFiles(
    store,
    options.files?.store ?? store.defaultFileStore?.(),
    toFileLimits(options.files),
    clock,
  )
  const agents = createAgentSource(options, clock, chosen.agentTimeoutMs, offer)
  const engine = createEngine({
    store,
    committer,
    hub,
    clock,
    options: chosen,
    agents,
    files,
    offer,
    emit,
    tracing: options.hooks ?? {},
    holder: options.holder ?? store.holder?.() ?? randomId('holder'),
    newMessageId: (): MessageId => parseMessageId(newId('message')),
    newCallId,
  })

  const repeat = (firstMs: number, everyMs: number, work: () => Promise<unknown>): (() => void) => {
    let isOver = false
    let cancel = () => {}
    const next = (ms: number) => {
      if (isOver) return
      const call = () =>
        void work()
          .catch((error: unknown) => emit({ type: 'recovery-failed', error }))
          .finally(() => next(everyMs))
      cancel = clock.after(ms, call, true)
    }
    next(firstMs)
    return () => {
      isOver = true
      cancel()
    }
  }
  const recover = () => recoverAbandoned(engine)
  const heartbeat = async () => {
    await Promise.all(
      [...engine.runs.values()].map(({ ledger, run }) =>
        ledger.renew(chosen.leaseMs).catch((error: unknown) => {
          // Any other failure may pass; the lease may run out, and the next write will tell.
          if (isRunLost(error)) run.interrupt({ kind: 'fault', error })
        }),
      ),
    )
  }
  const heartbeatMs = Math.ceil(chosen.leaseMs / 3)
  const stopHeart = repeat(heartbeatMs, heartbeatMs, heartbeat)
  // The first look is now: what the process before left behind must not wait for an interval to pass.
  const isAtWork = chosen.recoverEveryMs > 0 && !isNextBuild()
  const stopRecovery = isAtWork ? repeat(0, chosen.recoverEveryMs, recover) : () => {}

  const collects = store.files !== undefined && isAtWork
  const stopCollecting = collects
    ? repeat(collectEveryMs, collectEveryMs, () => files.collect())
    : () => {}

  const unwatch = store.watch(
    ({ threadId, stop }) => {
      // Some thread was deleted, and nobody can say which: the leases do.
      if (threadId === null) void heartbeat()
      if (stop !== true || threadId === null) return
      // It may come late, when the next turn of the thread runs: whom the stop was meant for is in the lease.
      const live = engine.runs.get(threadId)
      live?.ledger.renew(chosen.leaseMs).catch((error: unknown) => {
        if (isRunLost(error)) live.run.interrupt({ kind: 'fault', error })
      })
    },
    () => engine.runs.keys(),
  )

  const settled = async (threadId?: ThreadId) => {
    const open = () => [...engine.runs].filter(([id]) => threadId === undefined || id === threadId)
    while (open().length > 0) await Promise.all(open().map(([, { run }]) => run.done))
  }

  const newThreadId = () => parseThreadId(newId('thread'))

  const holdfast: Holdfast = {
    store,
    toolbox: agents.fixed?.toolbox ?? noToolbox,
    newThreadId,
    describeAgent: ({ ownerId }) => offer.describe(ownerId),
    ...createLibrary(engine, newThreadId),
    files,
    rename: (threadId, title) => {
      warnDeprecated('`rename`', '`threads.update(threadId, { title })`')
      return appendThreadEvents(engine, threadId, [
        { type: 'thread-renamed', title, at: clock.now() },
      ])
    },
    send: (request) => send(engine, request),
    regenerate: (request) => regenerate(engine, request),
    continue: (threadId) => continueTurn(engine, threadId),
    stop: (threadId) => stopRun(engine, threadId),
    decide: async ({ threadId, by, decisions, ownerId }) =>
      decideCalls(
        engine,
        parseThreadId(threadId),
        by,
        decisions.map(toDecisionRequest),
        ownerId === undefined ? undefined : parseOwnerId(ownerId),
      ),
    resolve: async (request) => resolveCall(engine, toResolveRequest(request)),
    addToolOutputs: async (threadId, outputs) =>
      addToolOutputs(engine, parseThreadId(threadId), outputs.map(toGivenOutput)),
    subscribe: (threadId, after, signal, gate) =>
      hub.follow(threadId, after, signal ?? new AbortController().signal, gate),
    record: (source, request) => record(engine, newCallId, source, request),
    modelMessages: (threadId) => readModelMessages(engine, threadId),
    toolCalls: createToolCallRepository({
      store,
      append: engine.append,
      now: clock.now,
      newCallId,
      limits: chosen,
      pause: pauseOf(clock),
      onIgnored: (end) => emit({ type: 'end-ignored', ...end }),
    }),
    clock,
    saving: () => committer.saving,
    ready: () => assertReady({ store, committer, append: engine.append }, newId('thread')),
    metrics: () => ({
      ...metrics.read(),
      runs: engine.runs.size,
      followers: hub.followers,
    }),
    running: () => [...engine.runs.keys()],
    recover,
    settled,
    async close(how = {}) {
      checkOptions('close', how, { graceMs: milliseconds(0, longestTimerMs, '0') })
      const { graceMs = 0 } = how
      stopRecovery()
      stopCollecting()
      const finished = new AbortController()
      const done = settled().finally(() => finished.abort())
      await Promise.race([done, wait(clock, graceMs, finished.signal)])
      engine.titles.stop()
      engine.handOver()
      committer.stopWaiting()
      await settled()
      await engine.titles.settled()
      // The heart beats until the last run is over: a run in its grace must not be taken for dead.
      stopHeart()
      unwatch()
      hub.close()
    },
  }
  return { ...holdfast, ...withParsedIds(holdfast) }
}

/** How often files are looked for that nothing names any more. */
const collectEveryMs = 600_000

/** Where nobody listens the reason would be lost: what clients read has only its id. */
const logFailure: Hooks = (event) => {
  if (event.type !== 'failed') return
  const { source, name, errorId, threadId, message } = event
  const what = [source, name].filter((word) => word !== undefined).join(' ')
  // oxlint-disable-next-line no-console -- the last resort: a fault that is told to nobody cannot be mended
  console.error(`holdfast: ${what} failed (error ${errorId}, thread ${threadId}): ${message}`)
}

/** 128 random bits: unique everywhere, and said by nothing else. */
function randomId(kind: string): string {
  const prefix = { message: 'msg', call: 'call', thread: 'thr', holder: 'run' }[kind] ?? kind
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`
}

/**
 * `next build` loads the modules of the routes to look at them. Whoever builds an app must not take over the runs of the
 * one that serves.
 */
const isNextBuild = (): boolean =>
  typeof process !== 'undefined' && process.env['NEXT_PHASE'] === 'phase-production-build'
