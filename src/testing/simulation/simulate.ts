import { foldThread } from '../../core/fold-thread.ts'
import { createHoldfast } from '../../engine/create-holdfast.ts'
import type { Store } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { checkEnd } from './check-end.ts'
import { comeToRest } from './come-to-rest.ts'
import { doSomething, someProcess } from './deeds.ts'
import { withExactDigest } from './exact-digest.ts'
import { createScheduler } from './scheduler.ts'
import { createSenders } from './send-deeds.ts'
import { createCounter, type Tally } from './tally.ts'
import type { Violation } from './violation.ts'
import { randomWeather } from './weather.ts'
import { createWorld, type World } from './world.ts'

export interface SimulationOptions {
  readonly seed: number
  /** A fresh store. Its time, and who lives, are the simulation's. */
  readonly openStore: (options: SimulatedStoreOptions) => Store
  /** In place of the real ones, to see what the simulation makes of a wrong one. */
  readonly create?: typeof createHoldfast
  readonly fold?: typeof foldThread
}

export interface SimulatedStoreOptions {
  readonly now: () => number
  readonly isAlive: (holder: string) => boolean | undefined
}

export interface SimulationReport {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly tally: Tally
  readonly steps: number
  readonly trace: readonly string[]
}

/** One life of a few processes over one store, decided by the seed alone. */
export function simulate(options: SimulationOptions): Promise<SimulationReport> {
  return withExactDigest(() => run(options))
}

async function run(options: SimulationOptions): Promise<SimulationReport> {
  const { seed } = options
  const random = createRandom(seed)
  const weather = randomWeather(random)
  const scheduler = createScheduler(random)
  const { tally, count } = createCounter()
  const living = new Set<string>()
  const violations: Violation[] = []
  // Nobody is seen to live: what a late run may not do is to be tried, too.
  const isAlive = (holder: string) =>
    weather.noticesDeath && !living.has(holder) ? false : undefined
  const store = options.openStore({ now: scheduler.now, isAlive })
  const world = await createWorld({
    random,
    scheduler,
    weather,
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
  await live(world)
  await store.close()
  const { steps, trace } = scheduler
  return { seed, violations, tally, steps, trace }
}

async function live(world: World): Promise<void> {
  const { random, weather, scheduler } = world
  const senders = createSenders(world)
  for (let count = 0; count < weather.processes; count++) world.startProcess()
  for (let count = 0; count < weather.viewers; count++) {
    world.addViewer(random.pick(world.threads)).connect(someProcess(world))
  }
  for (const threadId of world.threads) senders.send(threadId, someProcess(world))

  let left = weather.deeds
  const next = () => {
    if (left-- > 0) {
      doSomething(world, senders)
      world.later('next deed', random.pick([0, 5, 60, 300, 1_000, 2_500]), next)
    }
  }
  world.later('next deed', 10, next)
  const isGoing = () => left >= 0 && !world.isBroken
  while (isGoing() && (await scheduler.step(Number.POSITIVE_INFINITY))) {
    if (world.processes.length < weather.processes && random.chance(0.01)) restart(world)
  }
  if (world.isBroken) return
  world.calmDown()
  await comeToRest(world)
  if (world.isBroken) return
  for (const threadId of world.threads) senders.send(threadId, someProcess(world))
  await comeToRest(world)
  await checkEnd(world, senders)
}

function restart(world: World): void {
  world.count('restart')
  world.startProcess()
}
