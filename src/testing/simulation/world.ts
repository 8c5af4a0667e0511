import type { foldThread } from '../../core/fold-thread.ts'
import { parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { createHoldfast } from '../../engine/create-holdfast.ts'
import type { Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import { createMortalStore } from './mortal-store.ts'
import { createObserver } from './observer.ts'
import { createRequests, type Requests } from './requests.ts'
import type { Scheduler } from './scheduler.ts'
import { createProcess, type SimulatedProcess } from './simulated-process.ts'
import type { Kind } from './tally.ts'
import { createViewer, type Viewer } from './viewer.ts'
import type { Report } from './violation.ts'
import { fairWeather, type Weather } from './weather.ts'
import type { Witness } from './witness.ts'

/** Everything that one seed plays with. */
export interface World {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly weather: Weather
  readonly store: Store
  readonly threads: readonly ThreadId[]
  readonly processes: readonly SimulatedProcess[]
  readonly viewers: readonly Viewer[]
  readonly requests: Requests
  /** Nothing goes wrong any more. */
  readonly isOver: boolean
  /** A promise was broken: what follows from that is of no interest. */
  readonly isBroken: boolean
  readonly witnessOf: (threadId: ThreadId) => Witness
  readonly newId: (kind: string) => string
  readonly count: (kind: Kind) => void
  readonly report: Report
  /** Something happens to nobody in particular. */
  readonly later: (label: string, delayMs: number, run: () => void) => void
  readonly startProcess: () => SimulatedProcess
  readonly kill: (process: SimulatedProcess, how: Kind) => void
  readonly addViewer: (threadId: ThreadId) => Viewer
  readonly calmDown: () => void
}

export interface WorldParts {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly weather: Weather
  readonly store: Store
  readonly living: Set<string>
  readonly isAlive: (holder: string) => boolean | undefined
  readonly create: typeof createHoldfast
  readonly fold: typeof foldThread
  readonly count: (kind: Kind) => void
  readonly report: Report
}

export async function createWorld(parts: WorldParts): Promise<World> {
  const { random, scheduler, weather, store, living, count } = parts
  const processes: SimulatedProcess[] = []
  const viewers: Viewer[] = []
  const ids = new Map<string, number>()
  let isOver = false
  let isBroken = false

  const report: Report = (rule, message) => {
    isBroken = true
    parts.report(rule, message)
  }
  const newId = (kind: string): string => {
    const next = (ids.get(kind) ?? 0) + 1
    ids.set(kind, next)
    return `${kind}-${next}`
  }
  const threads = Array.from({ length: weather.threads }, () => parseThreadId(newId('thread')))
  const observer = createObserver({ ...parts, threads, report })

  const world: World = {
    random,
    scheduler,
    weather,
    store,
    threads,
    processes,
    viewers,
    requests: createRequests(scheduler, report),
    get isOver() {
      return isOver
    },
    get isBroken() {
      return isBroken
    },
    witnessOf: observer.witnessOf,
    newId,
    count,
    report,
    later: (label, delayMs, run) => void scheduler.schedule('world', label, delayMs, run),

    startProcess() {
      const name = newId('process')
      living.add(name)
      const mortal = createMortalStore({
        owner: name,
        store,
        random,
        scheduler,
        count,
        weather: () => (isOver ? fairWeather(weather) : weather),
        kill: (how) => world.kill(process, how),
        observe: (appends, results) => observer.committed(name, appends, results),
        onStopAsked: (threadId) => observer.witnessOf(threadId).stopAsked(),
        onFault: () => observer.misheard(name),
      })
      const process = createProcess({
        name,
        store: mortal,
        random,
        scheduler,
        weather,
        count,
        newId,
        isOver: () => isOver,
        create: parts.create,
        onPrompt: (prompt) => observer.prompted(name, prompt),
        onScript: (script) => observer.spoke(name, script),
        tools: observer.toolsOf(name),
      })
      processes.push(process)
      return process
    },

    kill(process, how) {
      const index = processes.indexOf(process)
      if (index < 0) return
      count(how)
      scheduler.note(`${process.name} is gone: ${how}`)
      processes.splice(index, 1)
      living.delete(process.name)
      scheduler.drop(process.name)
      world.requests.drop(process.name)
      for (const viewer of viewers) if (viewer.through === process.name) viewer.drop()
    },

    addViewer(threadId) {
      const isSlow = random.chance(0.3)
      const readOn = () =>
        new Promise<void>((resolve) => {
          world.later('viewer reads on', random.int(300), resolve)
        })
      const viewer = createViewer({
        name: newId('viewer'),
        threadId,
        witness: observer.witnessOf(threadId),
        fold: parts.fold,
        report,
        pause: () => (isSlow && !isOver ? readOn() : undefined),
      })
      viewers.push(viewer)
      return viewer
    },

    calmDown() {
      isOver = true
      scheduler.thaw()
    },
  }

  const ownerId = parseOwnerId('owner')
  for (const id of threads) {
    await store.createThread({ id, ownerId, title: '', at: scheduler.now() })
  }
  return world
}
