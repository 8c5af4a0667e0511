import type { ModelMessage } from 'ai'
import {
  type CallId,
  type MessageId,
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type ThreadId,
} from '../core/ids.ts'
import { addToolOutputs, type ToolOutputResult } from './calls/add-tool-outputs.ts'
import { checkOptions, longestTimerMs, milliseconds } from '../core/check-options.ts'
import { withDefined } from '../core/with-defined.ts'
import { appendThreadEvents } from './run/append-thread-events.ts'
import { type Clock, elapsedMs, systemClock, wait, pauseOf } from './clock.ts'
import {
  type AnswerMethods,
  type ClientToolOutput,
  type DecideRequest,
  type OldResolution,
  type OldToolOutput,
  toDecisionRequest,
  toGivenOutput,
  type ToolResolution,
  toResolveRequest,
} from './calls/call-requests.ts'
import { checkBy, checkList, checkNames } from './options/check-names.ts'
import { createPromptMemory } from './run/prompt-memory.ts'
import { createResultMemory, toResultLimits } from './run/result-memory.ts'
import { createCommitter } from './run/committer.ts'
import { type DecisionResult, decideCalls } from './calls/decide.ts'
import { createEngine, type LiveRun } from './engine.ts'
import { toFileLimits } from './files/file-options.ts'
import { createFiles, type Files } from './files/files.ts'
import type { Hooks } from './telemetry/hooks.ts'
import { createHub, type FollowedPlace, type ReadGate } from './follow/hub.ts'
import { createLibrary, type Library } from './library.ts'
import { createSearchFiller } from './threads/search-filler.ts'
import { logFailures } from './telemetry/log-failures.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createOncePerMinute } from './telemetry/once-per-minute.ts'
import { safely } from './telemetry/safely.ts'
import { assertReady } from './readiness.ts'
import { type AgentDescription, createOffer } from './agent/offered-models.ts'
import { checkHoldfastOptions, modelRule } from './options/option-rules.ts'
import { type HoldfastOptions, withDefaults } from './options/options.ts'
import { withParsedIds } from './options/parsed-ids.ts'
import { type Recording, record } from './record/record.ts'
import type { RecordRequest } from './record/record-request.ts'
import type { RecordedLoop, RecordedSource } from './record/recorded-parts.ts'
import { recoverAbandoned } from './run/recover.ts'
import { readModelMessages } from './record/resume-recorded.ts'
import { type ResolveResult, resolveCall } from './calls/resolve.ts'
import { type ContinueResult, continueTurn } from './run/resume.ts'
import { isRunLost } from './run/append-refusal.ts'
import type { SendResult } from './input/begin-answer.ts'
import { type RegenerateRequest, regenerate } from './input/regenerate.ts'
import { type SendRequest, send } from './input/send.ts'
import { type StopResult, stopRun } from './run/stop.ts'
import { ownerIn, type ThreadScope } from './thread-scope.ts'
import type { Frame } from './follow/live-window.ts'
import { createToolCallRepository, type ToolCallRepository } from './calls/tool-calls.ts'
import { noToolbox, type Toolbox } from './agent/tool-policy.ts'
import { wordsOutside } from './agent/known-tools.ts'
import { createAgentSource } from './agent/turn-agent.ts'
import { warnDeprecated } from './options/warn-deprecated.ts'
import type { Store } from '../store/store.ts'

/** One engine with its store: everything that the HTTP routes call. */
export interface Holdfast extends Library {
  /** The store that it was created with. `close` does not close it. */
  readonly store: Store
  /** Files that messages refer to. */
  readonly files: Files
  /**
   * The tools of every turn, where the agent is an object; empty where it is a function, because then each turn has its
   * own.
   */
  readonly toolbox: Toolbox
  /** A new id for a thread. Nothing is stored. */
  newThreadId(): ThreadId
  /** What a person may choose for an answer: models, and the JSON Schema of `choices` (AG2). */
  describeAgent(scope: { readonly ownerId: string }): Promise<AgentDescription>
  /**
   * False if there is no such thread.
   * @deprecated `threads.update(threadId, { title })`; goes with 1.0.
   */
  rename(threadId: ThreadId, title: string): Promise<boolean>
  /**
   * Stores a user message and begins its answer, in one commit. Returns when that is stored, not when the answer has
   * ended: `settled` waits for that. The same message again joins its turn, or returns the turn it had (`joined`,
   * `repeated`).
   */
  send(request: SendRequest): Promise<SendResult>
  /**
   * Answers again. The answer that it replaces stays as a version (VR1). While a turn of the thread runs it is refused as
   * `run-active`, unless `whenBusy` is `interrupt`.
   */
  regenerate(request: RegenerateRequest): Promise<SendResult>
  /**
   * Continues the last turn as the same message, if it ended without being complete: out of steps, stopped, cut off,
   * interrupted or failed (ST5).
   */
  continue(threadId: ThreadId, scope?: ThreadScope): Promise<ContinueResult>
  /**
   * Stops the turn that runs or waits, in whichever process it runs, and returns when its end is stored (ST1). What it had
   * produced stays; queued inputs are held back (IN5).
   */
  stop(threadId: ThreadId, scope?: ThreadScope): Promise<StopResult>
  /**
   * Accepts or rejects calls that wait for approval. Returns one result for each decision, in order. The decisions on one
   * turn and its resumption are one commit (AP6); of two deciders the first wins (AP2).
   */
  decide(request: DecideRequest): Promise<readonly DecisionResult[]>
  /** Stores what a person decided about a call whose outcome is unknown (CR3). The first resolution wins. */
  resolve(request: ToolResolution | OldResolution): Promise<ResolveResult>
  /**
   * Stores results of tools that the client runs. Returns one result for each: whether it was added, or came too late.
   */
  addToolOutputs(
    threadId: ThreadId,
    outputs: readonly (ClientToolOutput | OldToolOutput)[],
  ): Promise<readonly ToolOutputResult[]>
  /**
   * Everything committed to a thread after a seq, in order, once, then live, from any process. With the
   * incarnation beside the seq (both are in the result of `send`), it ends without a change if the thread was deleted
   * since and created again under its id.
   */
  subscribe(
    threadId: ThreadId,
    after: FollowedPlace,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  /**
   * Stores the stream of a loop that the host application runs itself: `result.stream` of a `streamText`, a UI message
   * stream, or plain text; or a function that runs the loop with the prompt from the ledger, and is called only where there is
   * something to answer. With a message it answers that; with `{continue: turnId}` it continues the thread's last
   * turn, after an approval or a result of the client.
   */
  record(source: RecordedSource | RecordedLoop, request: RecordRequest): Promise<Recording>
  /**
   * The prompt of a thread, from the ledger: for the host application's own loop. A call that was accepted and has not
   * run is contained in the AI SDK's format, so that `streamText` runs it.
   */
  modelMessages(threadId: ThreadId): Promise<ModelMessage[]>
  /** For applications that run their own loop and write its calls themselves. */
  readonly toolCalls: ToolCallRepository
  /** Looks for runs whose process died, now. The engine also does this at intervals. */
  recover(): Promise<number>
  readonly clock: Clock
  /** `interrupted` while writes to the store fail: runs wait for it, and new messages are refused. */
  readonly saving: () => 'ok' | 'interrupted'
  /**
   * Rejects, with a `reason`, if the store does not respond or cannot be written, if writes have waited for seconds,
   * the disk is full, or the notify listener is disconnected.
   */
  ready(): Promise<void>
  /** Whether `close` was called: this process begins no answer any more. */
  readonly isClosing: () => boolean
  metrics(): Metrics & { readonly runs: number; readonly followers: number }
  /** The threads that this process is answering. */
  running(): readonly ThreadId[]
  /** Resolves when no run of this process, or of one thread in it, is live. */
  settled(threadId?: ThreadId): Promise<void>
  /**
   * From now on `send`, `regenerate`, `continue` and `queues.release` reject with the code `closing`, and `ready`
   * rejects. Live runs may finish for `graceMs`, then they are handed over. A loop of the host's own can still be
   * recorded.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * The engine of one process: accepts messages, runs turns, and delivers changes to followers.
 *
 * Every option is checked first: an unknown name, or a value outside its range, is a `HoldfastError` with the code
 * `bad-option`, and nothing has been created. docs/guides/options.md lists them all.
 */
export function createHoldfast<Context = unknown, Choices = unknown>(
  given: HoldfastOptions<Context, Choices>,
): Holdfast {
  // Inside the engine, contexts and choices are opaque values.
  const options = given as unknown as HoldfastOptions
  checkHoldfastOptions(options)
  if (options.modelRetries !== undefined) warnDeprecated('`modelRetries`', '`maxRetries`')
  const { store } = options
  const clock = options.clock ?? systemClock
  const metrics = createMetrics()
  const elapsed = () => elapsedMs(clock)
  const callHooks = safely(options.hooks ?? logFailures, elapsed)
  const isDue = createOncePerMinute(elapsed)
  const emit: Hooks = (event) => {
    metrics.count(event)
    if (event.type === 'failed' && event.source === 'observer' && !isDue(event.name ?? '')) return
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
    files: withDefined(
      { ...files, acceptsOf: offer.acceptsOf },
      { reference: options.files?.reference },
    ),
    offer,
    emit,
    tracing: options.hooks ?? {},
    promptMemory: createPromptMemory(),
    resultMemory: createResultMemory(toResultLimits(chosen.maxTurnChars)),
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
  const renew = ({ ledger, run }: LiveRun) => {
    ledger.renew(chosen.leaseMs).catch((error: unknown) => {
      // Any other failure may be temporary; if the lease has expired, the next write shows it.
      if (isRunLost(error)) run.interrupt({ kind: 'fault', error })
    })
  }
  // Waits for none of them: the renewal of a thread whose row is locked takes up to a minute, and the leases of all other
  // runs of this process would expire meanwhile (CR2).
  const heartbeat = () => {
    for (const live of engine.runs.values()) renew(live)
  }
  const heartbeatMs = Math.ceil(chosen.leaseMs / 3)
  const stopHeart = repeat(heartbeatMs, heartbeatMs, async () => heartbeat())
  // The first check is now: runs of the previous process must not wait for an interval to pass.
  const isAtWork = chosen.recoverEveryMs > 0 && !isNextBuild()
  const stopRecovery = isAtWork ? repeat(0, chosen.recoverEveryMs, recover) : () => {}

  const collects = store.files !== undefined && isAtWork
  const stopCollecting = collects
    ? repeat(collectEveryMs, collectEveryMs, () => files.collect())
    : () => {}

  const unwatch = store.watch(
    ({ threadId, seq, stop }) => {
      // Some thread was deleted, and the notification does not tell which: renewing the leases shows it.
      if (threadId === null) heartbeat()
      const isDeleted = seq === 0
      if (threadId === null || !(stop === true || isDeleted)) return
      // The notification may come late, when the next turn of the thread runs, or a thread that was created again: the
      // lease tells whether it is for this one.
      const live = engine.runs.get(threadId)
      if (live !== undefined) renew(live)
    },
    () => engine.runs.keys(),
  )

  const settled = async (threadId?: ThreadId) => {
    const open = () => [...engine.runs].filter(([id]) => threadId === undefined || id === threadId)
    while (open().length > 0) await Promise.all(open().map(([, { run }]) => run.done))
  }

  const newThreadId = () => parseThreadId(newId('thread'))
  const filler = createSearchFiller(store)

  const holdfast: Omit<Holdfast, keyof AnswerMethods> & AnswerMethods = {
    store,
    toolbox: agents.fixed?.toolbox ?? noToolbox,
    newThreadId,
    async describeAgent(scope) {
      checkNames('describeAgent', scope, ['ownerId'])
      return offer.describe(scope.ownerId)
    },
    ...createLibrary(engine, newThreadId, filler),
    files,
    rename: (threadId, title) => {
      warnDeprecated('`rename`', '`threads.update(threadId, { title })`')
      return appendThreadEvents(engine, threadId, [
        { type: 'thread-renamed', title, at: clock.now() },
      ])
    },
    send: (request) => send(engine, request),
    regenerate: (request) => regenerate(engine, request),
    continue: async (threadId, scope = {}, reads) =>
      continueTurn(engine, threadId, ownerIn(scope), reads),
    stop: async (threadId, scope = {}) => stopRun(engine, threadId, ownerIn(scope)),
    async decide(request, reads) {
      checkNames('decide', request, ['threadId', 'by', 'decisions', 'ownerId'])
      const { threadId, by, decisions, ownerId } = request
      checkBy(by)
      checkList('"decisions" is', decisions)
      return decideCalls(
        engine,
        parseThreadId(threadId),
        by,
        decisions.map(toDecisionRequest),
        ownerId === undefined ? undefined : parseOwnerId(ownerId),
        reads,
      )
    },
    resolve: async (request, reads) => resolveCall(engine, toResolveRequest(request), reads),
    async addToolOutputs(threadId, outputs, reads) {
      checkList('The outputs are', outputs)
      return addToolOutputs(engine, parseThreadId(threadId), outputs.map(toGivenOutput), reads)
    },
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
      failureTexts: (place) => wordsOutside(engine, place),
      onIgnored: (end) => emit({ type: 'end-ignored', ...end }),
    }),
    clock,
    saving: () => committer.saving,
    ready: () => assertReady(engine, newId('thread')),
    isClosing: engine.isShut,
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
      engine.shut()
      stopRecovery()
      stopCollecting()
      const finished = new AbortController()
      const done = settled().finally(() => finished.abort())
      await Promise.race([done, wait(clock, graceMs, finished.signal)])
      engine.titles.stop()
      const isFilled = filler.stop()
      engine.handOver()
      committer.stopWaiting()
      await settled()
      await Promise.all(engine.reading)
      await engine.titles.settled()
      await isFilled
      // Leases are renewed until the last run is over: a run in its grace period must not be taken over.
      stopHeart()
      unwatch()
      hub.close()
    },
  }
  return { ...holdfast, ...withParsedIds(holdfast) }
}

/** How often files are collected that nothing refers to any more. */
const collectEveryMs = 600_000

/** 128 random bits: unique everywhere, and without any information. */
function randomId(kind: string): string {
  const prefix = { message: 'msg', call: 'call', thread: 'thr', holder: 'run' }[kind] ?? kind
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`
}

/** `next build` loads the modules of the routes to analyse them. A build must not take over the runs of the server. */
const isNextBuild = (): boolean =>
  typeof process !== 'undefined' && process.env['NEXT_PHASE'] === 'phase-production-build'
