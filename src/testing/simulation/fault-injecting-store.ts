import { HoldfastError } from '../../core/holdfast-error.ts'
import type { FileStore } from '../../files/file-store.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { HoldfastOptions } from '../../engine/options/options.ts'
import type { ShareRecords } from '../../store/share-records.ts'
import type { FileRecords } from '../../store/file-records.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult, ChangeNotification, Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import type { CoverageKind } from './coverage.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * What a seed decides before it begins: the size of the cluster, its engine options, and the probability of each fault.
 */
export interface FaultProfile {
  readonly processes: number
  readonly threads: number
  readonly viewers: number
  readonly actions: number
  /** Whether the store can tell that a lease holder is dead, or must wait for its lease to expire. */
  readonly noticesDeath: boolean
  /** Probabilities, each per store call or notification. */
  readonly crash: number
  readonly failedWrite: number
  readonly ambiguousWrite: number
  readonly failedRead: number
  readonly slow: number
  readonly lateNotification: number
  readonly lostNotification: number
  readonly options: Pick<
    HoldfastOptions,
    | 'maxSteps'
    | 'toolConcurrency'
    | 'textDelayMs'
    | 'leaseMs'
    | 'recoverEveryMs'
    | 'retryDelayMs'
    | 'recovery'
    | 'unknownOutcome'
  >
}

export function randomFaultProfile(random: Random): FaultProfile {
  const isFaultless = random.chance(0.15)
  const sometimes = (probability: number, chance: number): number =>
    !isFaultless && random.chance(probability) ? chance : 0
  return {
    processes: 1 + random.int(3),
    threads: random.chance(0.2) ? 2 : 1,
    viewers: 1 + random.int(3),
    actions: 5 + random.int(14),
    noticesDeath: random.chance(0.6),
    crash: sometimes(0.6, random.pick([0.01, 0.03, 0.08])),
    failedWrite: sometimes(0.35, random.pick([0.02, 0.08])),
    ambiguousWrite: sometimes(0.35, random.pick([0.02, 0.08])),
    failedRead: sometimes(0.25, random.pick([0.01, 0.04])),
    slow: sometimes(0.3, 0.05),
    lateNotification: sometimes(0.5, 0.3),
    lostNotification: sometimes(0.4, 0.1),
    options: {
      maxSteps: 2 + random.int(4),
      toolConcurrency: 1 + random.int(3),
      textDelayMs: random.pick([0, 10, 25]),
      leaseMs: 3_000,
      recoverEveryMs: 1_000,
      retryDelayMs: 100,
      recovery: random.chance(0.85) ? 'continue' : 'end',
      unknownOutcome: random.chance(0.85) ? 'wait' : 'tell-model',
    },
  }
}

/** The same cluster with every fault off. */
export const withoutFaults = (profile: FaultProfile): FaultProfile => ({
  ...profile,
  crash: 0,
  failedWrite: 0,
  ambiguousWrite: 0,
  failedRead: 0,
  slow: 0,
  lateNotification: 0,
  lostNotification: 0,
})

/** One process's connections: to the database, and to where the bytes of files are. */
export interface FaultInjectingStores {
  readonly store: Store
  readonly fileStore: FileStore
}

export interface FaultInjectingStoreParts {
  /** The process that this connection to the database belongs to. */
  readonly owner: string
  readonly store: Store
  readonly fileStore: FileStore
  readonly random: Random
  readonly scheduler: Scheduler
  readonly profile: () => FaultProfile
  readonly count: (kind: CoverageKind) => void
  readonly kill: (how: CoverageKind) => void
  readonly observe: (appends: readonly Append[], results: readonly AppendResult[]) => Promise<void>
  readonly onStopRequested: (threadId: ThreadId) => void
  /** A call that carries events failed, or its caller cannot know whether it succeeded. */
  readonly onFault: () => void
}

type Fault = 'none' | 'fail-before' | 'fail-after' | 'die-before' | 'die-after'

/**
 * The store as one process sees it. Each call is executed at one virtual moment and answered at another; it may
 * fail before or after it was executed, and the process may die before or after it.
 */
export function createFaultInjectingStore(parts: FaultInjectingStoreParts): FaultInjectingStores {
  const { owner, store, random, scheduler, profile, count } = parts

  const latencyMs = () =>
    random.chance(profile().slow)
      ? random.pick([100, 800, 2_500])
      : random.pick([0, 0, 0, 0, 0, 1, 3, 10])

  const chooseFault = (isWrite: boolean): Fault => {
    const chances = profile()
    if (!isWrite) return random.chance(chances.failedRead) ? 'fail-before' : 'none'
    if (random.chance(chances.crash)) return random.chance(0.5) ? 'die-before' : 'die-after'
    if (random.chance(chances.failedWrite)) return 'fail-before'
    return random.chance(chances.ambiguousWrite) ? 'fail-after' : 'none'
  }

  const fail = () => new HoldfastError('store-failed', 'The database did not answer.')

  const call = <Answer>(
    verb: string,
    work: () => Promise<Answer>,
    isWrite = false,
    carriesEvents = true,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const answer = (settle: () => void) => {
        if (random.chance(0.5)) settle()
        else scheduler.schedule(owner, `${verb} answered`, latencyMs(), settle)
      }
      scheduler.schedule(owner, verb, latencyMs(), () => {
        const fault = chooseFault(isWrite)
        if (fault !== 'none') scheduler.note(`${owner}: ${verb} will ${fault}`)
        if (fault !== 'none' && carriesEvents) parts.onFault()
        if (fault === 'die-before') return parts.kill('crash-before-commit')
        if (fault === 'fail-before') {
          count(isWrite ? 'failed-write' : 'failed-read')
          return answer(() => reject(fail()))
        }
        void work().then(
          (value) => {
            if (fault === 'die-after') return parts.kill('crash-after-commit')
            if (fault === 'none') return answer(() => resolve(value))
            count('ambiguous-write')
            return answer(() => reject(fail()))
          },
          (error: unknown) =>
            answer(() => reject(error instanceof Error ? error : new Error(String(error)))),
        )
      })
    })

  const deliver = (
    listener: (notification: ChangeNotification) => void,
    notification: ChangeNotification,
  ) => {
    const { lateNotification, lostNotification } = profile()
    if (random.chance(lostNotification)) {
      count('notification-lost')
      // A listener that was disconnected reports `threadId: null` when it is connected again.
      const missed: ChangeNotification = { threadId: null, seq: 0 }
      scheduler.schedule(owner, 'listener up again', 50 + random.int(1_500), () => listener(missed))
      return
    }
    const isLate = random.chance(lateNotification)
    if (isLate) count('notification-late')
    scheduler.schedule(owner, 'notification', isLate ? random.int(500) : 0, () =>
      listener(notification),
    )
    if (!random.chance(lateNotification / 3)) return
    count('notification-twice')
    scheduler.schedule(owner, 'notification again', random.int(200), () => listener(notification))
  }

  const faultInjecting: Store = {
    kind: store.kind,
    createThread: (thread) => call('create thread', () => store.createThread(thread)),
    readThread: (id) => call('read thread', () => store.readThread(id)),
    listThreads: (query) => call('list threads', () => store.listThreads(query)),
    setThreadMetadata: (change) =>
      call('set thread metadata', () => store.setThreadMetadata(change), true),
    deleteThread: (id) => call('delete thread', () => store.deleteThread(id), true),
    commit(commits) {
      const appends = commits.map(({ append }) => append)
      const label = `commit ${appends.map(describe).join(' | ')}`
      const work = async () => {
        const results = await store.commit(commits)
        for (const { kind } of results) {
          if (kind !== 'appended') scheduler.note(`${owner}: refused as ${kind}`)
          if (kind === 'fenced') count('late-write-refused')
        }
        await parts.observe(appends, results)
        return results
      }
      return call(
        label,
        work,
        true,
        appends.some(({ events }) => events.length > 0),
      )
    },
    readPage: (query) => call('read page', () => store.readPage(query)),
    readChanges: (query) => call('read changes', () => store.readChanges(query)),
    readPath: (thread, target) => call('read path', () => store.readPath(thread, target)),
    ...(store.readPlace === undefined
      ? {}
      : {
          readPlace: (thread: ThreadId, seq: Seq) =>
            call('read place', async () => (await store.readPlace?.(thread, seq)) ?? null),
        }),
    readMessage: (...args) => call('read message', () => store.readMessage(...args)),
    findInput: (...args) =>
      call('find input', async () => (await store.findInput?.(...args)) ?? null),
    findTurn: (...args) => call('find turn', () => store.findTurn(...args)),
    readCall: (...args) => call('read call', () => store.readCall(...args)),
    requestStop(threadId, only) {
      const work = () => {
        parts.onStopRequested(threadId)
        return store.requestStop(threadId, only)
      }
      return call('request stop', work, true)
    },
    findAbandonedRuns: (limit, only) =>
      call('find abandoned', () => store.findAbandonedRuns(limit, only)),
    watch: (listener, followed) =>
      store.watch((notification) => deliver(listener, notification), followed),
    close: async () => {},
    ...(store.files === undefined ? {} : { files: wrapRecords(store.files, call) }),
    ...(store.shares === undefined ? {} : { shares: wrapShares(store.shares, call) }),
  }
  return { store: faultInjecting, fileStore: wrapFiles(parts.fileStore, call) }
}

type Call = <Answer>(
  verb: string,
  work: () => Promise<Answer>,
  isWrite?: boolean,
  carriesEvents?: boolean,
) => Promise<Answer>

const wrapRecords = (files: FileRecords, call: Call): FileRecords => ({
  begin: (file) => call('begin file', () => files.begin(file), true),
  finish: (file, most) => call('finish file', () => files.finish(file, most), true),
  read: (id) => call('read file', () => files.read(id)),
  reserve: (...args) => call('reserve files', () => files.reserve(...args), true),
  ownerBytes: (ownerId) => call('owner bytes', () => files.ownerBytes(ownerId)),
  claimUnused: (query) => call('claim unused', () => files.claimUnused(query), true),
  forget: (ids) => call('forget files', () => files.forget(ids), true),
})

const wrapShares = (shares: ShareRecords, call: Call): ShareRecords => ({
  begin: (share) => call('begin share', () => shares.begin(share), true, false),
  add: (...args) => call('add to share', () => shares.add(...args), true, false),
  finish: (share) => call('finish share', () => shares.finish(share), true, false),
  read: (id) => call('read share', () => shares.read(id)),
  readTexts: (query) => call('read shared texts', () => shares.readTexts(query)),
  list: (threadId) => call('list shares', () => shares.list(threadId)),
  remove: (...args) => call('remove share', () => shares.remove(...args), true, false),
})

const wrapFiles = (files: FileStore, call: Call): FileStore => ({
  kind: files.kind,
  write: (id, content, about) => call('write bytes', () => files.write(id, content, about), true),
  read: (...args) => call('read bytes', () => files.read(...args)),
  remove: (id) => call('remove bytes', () => files.remove(id), true),
})

function describe({ events, lease, threadId, expectedSeq }: Append): string {
  const types = events.map((event) =>
    'callId' in event ? `${event.type}(${event.callId})` : event.type,
  )
  const fields = [
    threadId,
    ...(expectedSeq === undefined ? [] : [`at ${expectedSeq}`]),
    // Without its fence: stores number fences differently, and traces of two stores must be equal.
    ...(lease === undefined ? [] : [lease.kind]),
  ]
  return `${fields.join(' ')}: ${types.join(' ')}`
}
