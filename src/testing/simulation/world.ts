import { type foldThread } from '../../core/fold-thread.ts'
import { parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { createHoldfast } from '../../engine/create-holdfast.ts'
import type { Append, AppendResult, Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import { checkNewest, checkPages } from './check-pages.ts'
import { checkPrompt } from './check-prompt.ts'
import { kindsOf } from './kinds-of-event.ts'
import { createMortalStore } from './mortal-store.ts'
import { createRequests, type Requests } from './requests.ts'
import type { Scheduler } from './scheduler.ts'
import { createProcess, type SimulatedProcess } from './simulated-process.ts'
import { createSpeech } from './speech.ts'
import type { Counter, Kind } from './tally.ts'
import { createToolRuns } from './tool-runs.ts'
import { createViewer, type Viewer } from './viewer.ts'
import { fairWeather, type Weather } from './weather.ts'
import { createWitness, type Witness } from './witness.ts'

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
  witnessOf(threadId: ThreadId): Witness
  newId(kind: string): string
  count(kind: Kind): void
  report(rule: string, message: string): void
  /** Something happens to nobody in particular. */
  later(label: string, delayMs: number, run: () => void): void
  startProcess(): SimulatedProcess
  kill(process: SimulatedProcess, how: Kind): void
  addViewer(threadId: ThreadId): Viewer
  calmDown(): void
}

export interface WorldParts {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly weather: Weather
  readonly counter: Counter
  readonly store: Store
  readonly living: Set<string>
  readonly create: typeof createHoldfast
  readonly fold: typeof foldThread
  readonly report: (rule: string, message: string) => void
}

export async function createWorld(parts: WorldParts): Promise<World> {
  const { random, scheduler, store, living } = parts
  const { count } = parts.counter
  const witnesses = new Map<ThreadId, Witness>()
  const processes: SimulatedProcess[] = []
  const viewers: Viewer[] = []
  const ids = new Map<string, number>()
  let isOver = false
  let isBroken = false

  const report = (rule: string, message: string) => {
    isBroken = true
    parts.report(rule, message)
  }
  const newId = (kind: string): string => {
    const next = (ids.get(kind) ?? 0) + 1
    ids.set(kind, next)
    return `${kind}-${next}`
  }
  const runs = createToolRuns({
    witnesses: () => witnesses.values(),
    report,
    onRepeat: () => count('tool-repeated'),
  })
  const speech = createSpeech(report)
  /** Processes some of whose words may have been lost. */
  const misheard = new Set<string>()

  const observe = async (
    process: string,
    appends: readonly Append[],
    results: readonly AppendResult[],
  ) => {
    for (const [index, append] of appends.entries()) {
      const witness = witnesses.get(append.threadId)
      const result = results[index]
      if (witness === undefined || result?.kind !== 'appended') continue
      witness.observe(append, result)
      for (const event of append.events) {
        for (const kind of kindsOf(event)) count(kind)
        runs.stored(event)
        speech.stored(process, event, witness)
        if (isStoreFailure(event) && !misheard.has(process)) {
          report('LG3', 'a turn failed although nothing was lost')
        }
      }
    }
    for (const threadId of new Set(appends.map((append) => append.threadId))) {
      const witness = world.witnessOf(threadId)
      await checkNewest(store, threadId, witness, report)
      if (!random.chance(0.05)) continue
      count('page-walk')
      await checkPages(store, threadId, witness, 1 + random.int(6), report)
    }
  }

  const world: World = {
    random,
    scheduler,
    weather: parts.weather,
    store,
    threads: Array.from({ length: parts.weather.threads }, (_, index) =>
      parseThreadId(`thread-${index + 1}`),
    ),
    processes,
    viewers,
    requests: createRequests(scheduler, report),
    get isOver() {
      return isOver
    },
    get isBroken() {
      return isBroken
    },
    witnessOf: (threadId) => witnesses.get(threadId) as Witness,
    newId,
    count,
    report,
    later: (label, delayMs, run) => void scheduler.schedule('world', label, delayMs, run),

    startProcess() {
      const name = newId('process')
      living.add(name)
      let process: SimulatedProcess | undefined
      const mortal = createMortalStore({
        owner: name,
        store,
        random,
        scheduler,
        count,
        observe: (appends, results) => observe(name, appends, results),
        onStopAsked: (threadId) => witnesses.get(threadId)?.stopAsked(),
        onFault: () => misheard.add(name),
        weather: () => (isOver ? fairWeather(parts.weather) : parts.weather),
        kill: (how) => process !== undefined && world.kill(process, how),
      })
      process = createProcess({
        name,
        store: mortal,
        random,
        scheduler,
        weather: parts.weather,
        isOver: () => isOver,
        count,
        create: parts.create,
        newId,
        onPrompt: (prompt) => checkPrompt(name, prompt, witnesses.values(), report),
        onScript: (script) => speech.said(name, script),
        tools: {
          returned: runs.returned,
          began(tool, callId, input) {
            scheduler.note(`${name}: runs ${tool} for ${callId}`)
            count('tool-run')
            runs.began(tool, callId, input)
          },
        },
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
      const viewer = createViewer({
        name: newId('viewer'),
        threadId,
        witness: world.witnessOf(threadId),
        fold: parts.fold,
        report,
        pause: () =>
          isSlow && !isOver
            ? new Promise((resolve) => {
                world.later('viewer reads on', random.int(300), resolve)
              })
            : undefined,
      })
      viewers.push(viewer)
      return viewer
    },

    calmDown() {
      isOver = true
      scheduler.thaw()
    },
  }

  for (const id of world.threads) {
    const isAlive = (holder: string) => living.has(holder) || !parts.weather.noticesDeath
    witnesses.set(id, createWitness(id, { now: scheduler.now, isAlive, fold: parts.fold, report }))
    await store.createThread({ id, ownerId: parseOwnerId('owner'), title: '', at: scheduler.now() })
  }
  return world
}

const isStoreFailure = (event: Append['events'][number]): boolean =>
  event.type === 'turn-ended' &&
  event.ending.kind === 'failed' &&
  event.ending.error.code === 'store-failed'
