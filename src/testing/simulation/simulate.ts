import { foldThread } from '../../core/fold-thread.ts'
import { createHoldfast, type Holdfast } from '../../engine/create-holdfast.ts'
import type { HoldfastOptions } from '../../engine/options/options.ts'
import type { Store } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { performRandomAction, someProcess } from './actions.ts'
import { checkEnd, quiesce } from './quiesce.ts'
import { createCluster, type Cluster } from './cluster.ts'
import { createCoverageCounter, type Coverage } from './coverage.ts'
import { randomFaultProfile } from './fault-injecting-store.ts'
import { checkFiles } from './file-actions.ts'
import { createMessageActions } from './message-actions.ts'
import type { Violation } from './oracle.ts'
import { createScheduler, withExactMoments } from './scheduler.ts'

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
export function simulate(options: SimulationOptions): Promise<SimulationReport> {
  return withExactMoments(() => run(options))
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
