import type { foldThread } from '../../core/fold-thread.ts'
import { type ErrorCode, HoldfastError } from '../../core/holdfast-error.ts'
import { parseOwnerId, parseThreadId, type Seq, type ThreadId } from '../../core/ids.ts'
import type { Holdfast } from '../../engine/create-holdfast.ts'
import type { HoldfastOptions } from '../../engine/options/options.ts'
import type { Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import type { CoverageKind } from './coverage.ts'
import {
  createFaultInjectingStore,
  type FaultProfile,
  withoutFaults,
} from './fault-injecting-store.ts'
import {
  createProcess,
  createSimulatedFiles,
  type SimulatedFiles,
  type SimulatedProcess,
} from './simulated-process.ts'
import { createObserver, createViewer, type Viewer } from './observer.ts'
import type { Oracle, Report } from './oracle.ts'
import type { Scheduler } from './scheduler.ts'

/** The thread and seq that a link must show for as long as it exists. */
export interface SharedLink {
  readonly id: string
  readonly threadId: ThreadId
  readonly seq: Seq
}

/** The simulated processes, viewers and users over one store, with everything that one seed decides. */
export interface Cluster {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly profile: FaultProfile
  readonly store: Store
  readonly threads: readonly ThreadId[]
  /** Forks of these threads that were not deleted. */
  readonly forks: Set<ThreadId>
  /** All links that were created. */
  readonly links: SharedLink[]
  readonly fileStore: SimulatedFiles
  /** The addresses of all files that were uploaded. */
  readonly uploads: string[]
  readonly processes: readonly SimulatedProcess[]
  readonly viewers: readonly Viewer[]
  readonly requests: Requests
  /** Faults are off: from here on everything that is open must end. */
  readonly isQuiescing: boolean
  /** A violation was reported: the run ends, because what follows from it is not informative. */
  readonly isBroken: boolean
  readonly oracleOf: (threadId: ThreadId) => Oracle
  readonly newId: (kind: string) => string
  readonly count: (kind: CoverageKind) => void
  readonly report: Report
  /** Schedules work that belongs to no process, so that no crash drops it. */
  readonly later: (label: string, delayMs: number, run: () => void) => void
  readonly startProcess: () => SimulatedProcess
  readonly kill: (process: SimulatedProcess, how: CoverageKind) => void
  readonly addViewer: (threadId: ThreadId) => Viewer
  readonly stopFaults: () => void
}

export interface ClusterParts {
  readonly random: Random
  readonly scheduler: Scheduler
  readonly profile: FaultProfile
  readonly store: Store
  readonly living: Set<string>
  readonly isAlive: (holder: string) => boolean | undefined
  readonly create: (options: HoldfastOptions) => Holdfast
  readonly fold: typeof foldThread
  readonly count: (kind: CoverageKind) => void
  readonly report: Report
}

export async function createCluster(parts: ClusterParts): Promise<Cluster> {
  const { random, scheduler, profile, store, living, count } = parts
  const processes: SimulatedProcess[] = []
  const viewers: Viewer[] = []
  const ids = new Map<string, number>()
  const fileStore = createSimulatedFiles()
  let isQuiescing = false
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
  const threads = Array.from({ length: profile.threads }, () => parseThreadId(newId('thread')))
  const observer = createObserver({ ...parts, threads, report })

  const cluster: Cluster = {
    random,
    scheduler,
    profile,
    store,
    threads,
    forks: new Set(),
    links: [],
    fileStore,
    uploads: [],
    processes,
    viewers,
    requests: createRequests(scheduler, report),
    get isQuiescing() {
      return isQuiescing
    },
    get isBroken() {
      return isBroken
    },
    oracleOf: observer.oracleOf,
    newId,
    count,
    report,
    later: (label, delayMs, run) => void scheduler.schedule('cluster', label, delayMs, run),

    startProcess() {
      const name = newId('process')
      living.add(name)
      const ownStore = createFaultInjectingStore({
        owner: name,
        store,
        random,
        scheduler,
        count,
        profile: () => (isQuiescing ? withoutFaults(profile) : profile),
        kill: (how) => cluster.kill(process, how),
        fileStore,
        observe: (appends, results) => observer.committed(name, appends, results),
        onStopRequested(threadId) {
          if (threads.includes(threadId)) observer.oracleOf(threadId).stopRequested()
        },
        onFault: () => observer.faulted(name),
      })
      const process = createProcess({
        name,
        ...ownStore,
        random,
        scheduler,
        profile,
        count,
        newId,
        isQuiescing: () => isQuiescing,
        create: parts.create,
        onPrompt: (prompt) => observer.prompted(name, prompt),
        onScript: (script) => observer.uttered(name, script),
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
      cluster.requests.drop(process.name)
      for (const viewer of viewers) if (viewer.through === process.name) viewer.drop()
    },

    addViewer(threadId) {
      const isSlow = random.chance(0.3)
      const readOn = () =>
        new Promise<void>((resolve) => {
          cluster.later('viewer reads on', random.int(300), resolve)
        })
      const viewer = createViewer({
        name: newId('viewer'),
        threadId,
        oracle: observer.oracleOf(threadId),
        fold: parts.fold,
        report,
        pause: () => (isSlow && !isQuiescing ? readOn() : undefined),
      })
      viewers.push(viewer)
      return viewer
    },

    stopFaults() {
      isQuiescing = true
      scheduler.thaw()
    },
  }

  const ownerId = parseOwnerId('owner')
  for (const id of threads) {
    await store.createThread({ id, ownerId, title: '', at: scheduler.now() })
  }
  return cluster
}

/** The requests of users to processes, until they are answered or their process dies. */
export interface Requests {
  /** Labels of the requests that a living process has not answered. */
  readonly open: readonly string[]
  submit<Answer>(request: Request<Answer>): void
  /** The process is dead: its requests are never answered. */
  drop(process: string): void
}

export interface Request<Answer> {
  readonly process: string
  readonly label: string
  readonly send: () => Promise<Answer>
  readonly onAnswer: (answer: Answer) => void
  /** Error codes that are valid responses to this request, besides `store-failed` and temporary faults of the store. */
  readonly faults?: readonly ErrorCode[]
}

function createRequests(scheduler: Scheduler, report: Report): Requests {
  const open = new Map<object, { readonly process: string; readonly label: string }>()
  return {
    get open() {
      return [...open.values()].map(({ process, label }) => `${process}: ${label}`)
    },
    submit({ process, label, send, onAnswer, faults = [] }) {
      const token = {}
      open.set(token, { process, label })
      scheduler.note(`${process} is asked: ${label}`)
      void send().then(
        (answer) => {
          if (!open.delete(token)) return
          scheduler.note(
            `${process} answers ${label}: ${JSON.stringify(answer, withoutIncarnation)}`,
          )
          onAnswer(answer)
        },
        (error: unknown) => {
          if (!open.delete(token)) return
          scheduler.note(`${process} fails ${label}: ${String(error)}`)
          const isExpected =
            error instanceof HoldfastError &&
            (error.code === 'store-failed' || error.isTemporary || faults.includes(error.code))
          if (!isExpected) report('LG3', `${label} failed with ${String(error)}`)
        },
      )
    },
    drop(process) {
      for (const [token, request] of open) if (request.process === process) open.delete(token)
    },
  }
}

/** Random, and not drawn from the seed: with it, no seed would give the same trace twice. */
const withoutIncarnation = (key: string, value: unknown): unknown =>
  key === 'incarnation' ? undefined : value
