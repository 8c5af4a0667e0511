import { HoldfastError } from '../../core/holdfast-error.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult, ChangeNotification, Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from './scheduler.ts'
import type { Kind } from './tally.ts'
import type { Weather } from './weather.ts'

export interface MortalStoreParts {
  /** The process whose line to the database this is. */
  readonly owner: string
  readonly store: Store
  readonly random: Random
  readonly scheduler: Scheduler
  readonly weather: () => Weather
  readonly count: (kind: Kind) => void
  readonly kill: (how: Kind) => void
  readonly observe: (appends: readonly Append[], results: readonly AppendResult[]) => Promise<void>
  readonly onStopAsked: (threadId: ThreadId) => void
  /** Something that was said was not heard, or not known to be. */
  readonly onFault: () => void
}

type Fault = 'none' | 'fail-before' | 'fail-after' | 'die-before' | 'die-after'

/**
 * A store as one process has it: every call takes its time, is done at a moment of the seed's choice
 * and answered at another, may fail before or after it was done, and may be the last thing that the
 * process does.
 */
export function createMortalStore(parts: MortalStoreParts): Store {
  const { owner, store, random, scheduler, weather, count } = parts

  const latencyMs = () =>
    random.chance(weather().slow)
      ? random.pick([100, 800, 2_500])
      : random.pick([0, 0, 0, 0, 0, 1, 3, 10])

  const throwDice = (isWrite: boolean): Fault => {
    const chances = weather()
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
    matters = true,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const answer = (settle: () => void) => {
        if (random.chance(0.5)) settle()
        else scheduler.schedule(owner, `${verb} answered`, latencyMs(), settle)
      }
      scheduler.schedule(owner, verb, latencyMs(), () => {
        const fault = throwDice(isWrite)
        if (fault !== 'none') scheduler.note(`${owner}: ${verb} will ${fault}`)
        if (fault !== 'none' && matters) parts.onFault()
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

  const hear = (
    listener: (notification: ChangeNotification) => void,
    notification: ChangeNotification,
  ) => {
    const { lateNotification, lostNotification } = weather()
    if (random.chance(lostNotification)) {
      count('hint-lost')
      // A line that was down says so when it is up again.
      const missed: ChangeNotification = { threadId: null, seq: 0 }
      scheduler.schedule(owner, 'line up again', 50 + random.int(1_500), () => listener(missed))
      return
    }
    const isLate = random.chance(lateNotification)
    if (isLate) count('hint-late')
    scheduler.schedule(owner, 'notification', isLate ? random.int(500) : 0, () =>
      listener(notification),
    )
    if (!random.chance(lateNotification / 3)) return
    count('hint-twice')
    scheduler.schedule(owner, 'notification again', random.int(200), () => listener(notification))
  }

  return {
    kind: store.kind,
    createThread: (thread) => call('create thread', () => store.createThread(thread)),
    readThread: (id) => call('read thread', () => store.readThread(id)),
    listThreads: (query) => call('list threads', () => store.listThreads(query)),
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
    readMessage: (thread, id) => call('read message', () => store.readMessage(thread, id)),
    findTurn: (id) => call('find turn', () => store.findTurn(id)),
    readCall: (thread, id) => call('read call', () => store.readCall(thread, id)),
    requestStop(threadId) {
      const work = () => {
        parts.onStopAsked(threadId)
        return store.requestStop(threadId)
      }
      return call('request stop', work, true)
    },
    findAbandonedRuns: (limit, only) =>
      call('find abandoned', () => store.findAbandonedRuns(limit, only)),
    watch: (listener) => store.watch((notification) => hear(listener, notification)),
    close: async () => {},
  }
}

function describe({ events, lease, threadId, expectedSeq }: Append): string {
  const facts = events.map((event) =>
    'callId' in event ? `${event.type}(${event.callId})` : event.type,
  )
  const words = [
    threadId,
    ...(expectedSeq === undefined ? [] : [`at ${expectedSeq}`]),
    // Without its fence: each store counts in its own way, and the trace is the same on all.
    ...(lease === undefined ? [] : [lease.kind]),
  ]
  return `${words.join(' ')}: ${facts.join(' ')}`
}
