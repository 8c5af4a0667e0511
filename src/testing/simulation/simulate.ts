import { callback, checkOptions, type OptionTable } from '../../core/check-options.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { createHoldfast, type Holdfast } from '../../engine/create-holdfast.ts'
import type { HoldfastOptions } from '../../engine/options/options.ts'
import type { Store } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { performRandomAction, someProcess } from './actions.ts'
import { type Cluster, createCluster } from './cluster.ts'
import { type Coverage, createCoverageCounter } from './coverage.ts'
import { randomFaultProfile } from './fault-injecting-store.ts'
import { checkFiles, createMessageActions, type MessageActions } from './message-actions.ts'
import { checkAnsweredOnce, type Violation } from './oracle.ts'
import { createScheduler, withExactMoments } from './scheduler.ts'
import { isOpenCall } from '../../core/call.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { checkPages, findDifference } from './check-views.ts'
import { addToolOutput, decide, isWaiting, resolve } from './decision-actions.ts'
import { checkLink } from './thread-actions.ts'

/** The options of `simulate`. */
export interface SimulationOptions {
  /** Decides everything that happens: the same seed over the same code gives the same trace. */
  readonly seed: number
  /** Opens an empty store, which must use the clock and the liveness check of these options. */
  readonly openStore: (options: SimulatedStoreOptions) => Store
  /**
   * Creates the engine of a process; a deliberately broken one shows that the simulation detects it.
   * @default createHoldfast
   */
  readonly create?: (options: HoldfastOptions) => Holdfast
  /**
   * The fold of viewers and of the oracle; a deliberately broken one shows that the simulation detects it.
   * @default foldThread
   */
  readonly fold?: typeof foldThread
}

/** What a store under simulation must use in place of the real clock and the real process table. */
export interface SimulatedStoreOptions {
  /** Virtual time in milliseconds. */
  readonly now: () => number
  /**
   * False: the process with this holder name is dead. Undefined: not known; always so where the seed decides that
   * deaths are not detected.
   */
  readonly isAlive: (holder: string) => boolean | undefined
}

/** The result of one seed. */
export interface SimulationReport {
  readonly seed: number
  /** Empty if every rule held. */
  readonly violations: readonly Violation[]
  /** How often each kind of action or fault happened. */
  readonly coverage: Coverage
  /** How many scheduled tasks ran. */
  readonly steps: number
  /** One line per task and note, with virtual milliseconds since the start. */
  readonly trace: readonly string[]
}

/**
 * Runs a few engines over one store in virtual time, with crashes, stalls, failed writes and late notifications
 * decided by the seed, and checks the rules of docs/spec.md after every commit and once more when all is quiet.
 *
 * @example
 * const { violations, trace } = await simulate({ seed: 1, openStore: (options) => memory(options) })
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  checkOptions('simulate', options, simulationRules, { store: 'openStore' })
  return withExactMoments(() => run(options))
}

const simulationRules: OptionTable<SimulationOptions> = {
  seed: { range: 'a number', fits: Number.isFinite },
  openStore: callback(),
  create: callback('createHoldfast'),
  fold: callback('foldThread'),
}

async function run(options: SimulationOptions): Promise<SimulationReport> {
  const { seed } = options
  const random = createRandom(seed)
  const profile = randomFaultProfile(random)
  const scheduler = createScheduler(random)
  const { coverage, count } = createCoverageCounter()
  const living = new Set<string>()
  const violations: Violation[] = []
  // No holder is ever reported as alive: otherwise what a late run must not do would never be tried.
  const isAlive = (holder: string) =>
    profile.noticesDeath && !living.has(holder) ? false : undefined
  const store = options.openStore({ now: scheduler.now, isAlive })
  const cluster = await createCluster({
    random,
    scheduler,
    profile,
    store,
    living,
    isAlive,
    count,
    create: options.create ?? createHoldfast,
    fold: options.fold ?? foldThread,
    report(rule, message) {
      scheduler.note(`VIOLATION ${rule}: ${message}`)
      violations.push({ rule, message, step: scheduler.steps })
    },
  })
  await runActions(cluster)
  await store.close()
  const { steps, trace } = scheduler
  return { seed, violations, coverage, steps, trace }
}

async function runActions(cluster: Cluster): Promise<void> {
  const { random, profile, scheduler } = cluster
  const messageActions = createMessageActions(cluster)
  for (let count = 0; count < profile.processes; count++) cluster.startProcess()
  for (let count = 0; count < profile.viewers; count++) {
    cluster.addViewer(random.pick(cluster.threads)).connect(someProcess(cluster))
  }
  for (const threadId of cluster.threads) messageActions.send(threadId, someProcess(cluster))

  let left = profile.actions
  const next = () => {
    if (left-- > 0) {
      performRandomAction(cluster, messageActions)
      cluster.later('next action', random.pick([0, 5, 60, 300, 1_000, 2_500]), next)
    }
  }
  cluster.later('next action', 10, next)
  const isGoing = () => left >= 0 && !cluster.isBroken
  while (isGoing() && (await scheduler.step(Number.POSITIVE_INFINITY))) {
    if (cluster.processes.length < profile.processes && random.chance(0.01)) restart(cluster)
  }
  if (cluster.isBroken) return
  cluster.stopFaults()
  await quiesce(cluster)
  if (cluster.isBroken) return
  for (const threadId of cluster.threads) messageActions.send(threadId, someProcess(cluster))
  await quiesce(cluster)
  await checkEnd(cluster, messageActions)
  if (!cluster.isBroken) await checkFiles(cluster, someProcess(cluster))
}

function restart(cluster: Cluster): void {
  cluster.count('restart')
  cluster.startProcess()
}

const roundMs = 3_500
const mostRounds = 30

/**
 * Runs the cluster without faults, with every waiting call answered, until nothing is open. What is still open after
 * `mostRounds` would be open for ever (CR1, CR2).
 */
async function quiesce(cluster: Cluster): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    someProcess(cluster)
    for (const viewer of cluster.viewers) {
      if (viewer.through === null) viewer.connect(someProcess(cluster))
    }
    const until = cluster.scheduler.now() + roundMs
    while (!cluster.isBroken && (await cluster.scheduler.step(until))) {
      // The step itself is the work.
    }
    if (cluster.isBroken) return
    const waiting = cluster.threads.filter((threadId) => !isQuiescent(cluster, threadId))
    if (waiting.length === 0 && cluster.requests.open.length === 0) return
    for (const threadId of waiting) answerAll(cluster, threadId)
  }
  for (const threadId of cluster.threads) {
    if (isQuiescent(cluster, threadId)) continue
    for (const { id, progress } of cluster.oracleOf(threadId).turns.values()) {
      if (progress.status !== 'ended') cluster.report('CR1', `${id} is ${progress.status} for ever`)
    }
    if (cluster.oracleOf(threadId).lease !== null)
      cluster.report('CR2', 'a run is never given back')
  }
}

const isQuiescent = (cluster: Cluster, threadId: ThreadId): boolean =>
  cluster.oracleOf(threadId).lease === null &&
  [...cluster.oracleOf(threadId).turns.values()].every(hasEnded)

const hasEnded = ({ progress }: Turn): boolean => progress.status === 'ended'

function answerAll(cluster: Cluster, threadId: ThreadId): void {
  for (const turn of cluster.oracleOf(threadId).turns.values()) {
    if (turn.progress.status !== 'waiting') continue
    for (const call of callsOf(turn)) {
      if (!isWaiting(call)) continue
      const process = someProcess(cluster)
      if (call.state === 'ready') addToolOutput(cluster, threadId, process, call)
      else if (call.state === 'unknown') resolve(cluster, threadId, process, 'eve', call)
      else decide(cluster, threadId, process, 'eve', [{ callId: call.id, decision: 'accept' }])
    }
  }
}

/**
 * The invariants of a cluster that has quiesced: no open turn or call (CR1), no lease (CR2), every accepted message is
 * stored and answered (LG6), and pages and viewers equal the oracle (LG4, PG2, RS2).
 */
async function checkEnd(cluster: Cluster, messageActions: MessageActions): Promise<void> {
  for (const request of cluster.requests.open) cluster.report('CR1', `never answered: ${request}`)
  for (const threadId of cluster.threads) await checkThread(cluster, messageActions, threadId)
  for (const link of cluster.links) await checkLink(cluster, link)
}

async function checkThread(
  cluster: Cluster,
  messageActions: MessageActions,
  threadId: ThreadId,
): Promise<void> {
  const { report, store } = cluster
  const { view, turns, events } = cluster.oracleOf(threadId)
  for (const turn of turns.values()) {
    if (!hasEnded(turn)) report('CR1', `${turn.id} is ${turn.progress.status} for ever`)
    for (const call of callsOf(turn)) {
      if (isOpenCall(call)) report('CR1', `${call.id} of ${turn.id} is ${call.state} for ever`)
    }
  }
  const last = view.messages.at(-1)
  if (last?.role === 'assistant' && last.progress.status === 'ended') {
    const { ending } = last.progress
    if (ending.kind !== 'completed') report('CR1', `the last message ended as ${ending.kind}`)
  }
  const stop = await store.requestStop(threadId)
  if (stop.kind !== 'idle') report('CR2', `the run of ${threadId} was never given back`)
  const retired = new Set(
    events.flatMap((event) => (event.type === 'messages-retired' ? event.messageIds : [])),
  )
  const joined = new Set(
    events.flatMap((event) => (event.type === 'input-joined' ? [event.messageId] : [])),
  )
  const withdrawn = new Set(
    events.flatMap((event) => (event.type === 'input-withdrawn' ? [event.messageId] : [])),
  )
  const { queue = [] } = view
  for (const id of messageActions.accepted.get(threadId) ?? []) {
    const isShown = view.messages.some((message) => message.id === id)
    const isWaiting = queue.some((input) => input.id === id)
    const isKnown = isShown || isWaiting || joined.has(id) || withdrawn.has(id) || retired.has(id)
    if (!isKnown) report('LG6', `${id} is gone`)
  }
  checkAnsweredOnce(events, queue, report)
  const stored = await store.readThread(threadId)
  if (JSON.stringify(stored?.queue) !== JSON.stringify(queue)) {
    report('IN2', `the queue of ${threadId} is not the fold of its events`)
  }
  for (const message of view.messages) {
    if (message.role !== 'user') continue
    const isAnswered = view.messages.some(
      (other) => other.role === 'assistant' && other.replyTo === message.id,
    )
    if (!isAnswered) report('LG6', `${message.id} was never answered`)
  }
  for (const limit of [1, 3, 200]) {
    await checkPages(store, threadId, cluster.oracleOf(threadId), limit, report)
  }
  for (const viewer of cluster.viewers) {
    if (viewer.threadId !== threadId) continue
    if (viewer.view.seq !== view.seq) {
      report('RS2', `${viewer.name} stands at ${viewer.view.seq} of ${view.seq}`)
    } else {
      const from = viewer.view.messages[0]?.seq ?? 0
      const shown = view.messages.filter(({ seq }) => seq >= from)
      const difference = findDifference(viewer.view.messages, shown)
      if (difference !== undefined) report('LG4', `${viewer.name} ${difference}`)
    }
  }
}
