import { setTimeout } from 'node:timers/promises'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Unit } from '../import/import-units.ts'
import { isLong } from '../store/commit-group.ts'
import { attemptWhileStale, mostAttempts, retryWhileStale } from '../store/retry-while-stale.ts'
import { isAnother } from '../core/thread-place.ts'
import type { AppendResult, Page, PageQuery, Store, StoredSeq } from '../store/store.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'
import {
  type Append,
  planInSteps,
  type PlannedCommit,
  type ThreadToCreate,
} from '../store/plan-commit.ts'

/** Units of one thread, in order, that are written together. */
export interface Portion {
  readonly threadId: ThreadId
  readonly where: string
  /** May be empty where the thread is created. */
  readonly units: readonly Unit[]
  /** The thread was not there when this was planned, and is created in the same transaction as its first units. */
  readonly create?: ThreadToCreate
  /** The incarnation of the thread that they continue, where they were planned for what it has (OP6). */
  readonly incarnation?: string
}

export interface ImportWriter {
  /** Writes once a group is full; `onRefused` is called with each refused unit, and the rest is stored. */
  add(portion: Portion): Promise<void>
  flush(): Promise<void>
  /** Until what was added to this thread is stored. Others stay in their group: each flush is a transaction (OP7b). */
  flushThread(threadId: ThreadId): Promise<void>
  /** The thread of a turn that is not written yet. */
  threadOf(turnId: MessageId): ThreadId | undefined
}

/** `unit`: one of the portion. Undefined: the whole thread, which has none. */
export type OnRefused = (portion: Portion, unit: Unit | undefined, why: string) => void

export const isBusy =
  'A turn of this thread is running or waiting. Import it when the turn has ended.'

const isDeleted = 'The thread was deleted during the import.'

/** Nothing of it was stored. Of one thread: the others of an import can still be written, and the report names this one. */
export const isHeld = 'It is held by another process. Import it again.'

const isTaken = 'The thread was created by somebody else during the import. Import it again.'

/** Whether the thread's last turn runs or waits: nothing may be stored behind it, or nothing could end it (AP8, OP5a). */
export const isOpenPage = ({ live, messages: [last] }: Pick<Page, 'live' | 'messages'>): boolean =>
  live !== null || (last?.role === 'assistant' && last.progress.status !== 'ended')

/** The most events of one transaction, so that it holds the store for milliseconds only. */
const mostEvents = 400
/** The most threads of one transaction: one without messages has no events. */
const mostThreads = 100
/** The most events of one append. */
const mostAtOnce = 100

/**
 * Writes what was read, many small threads in one transaction: a transaction waits for the disk, and one for each of
 * 20,000 threads took minutes in which everybody else's commits waited for the disk too (OP7b).
 */
export function createImportWriter(store: Store, pace: Pacer, onRefused: OnRefused): ImportWriter {
  let waiting: Portion[] = []
  let events = 0
  let writing: Promise<void> = Promise.resolve()
  /** The threads of `waiting`, and those of the group that is being written. */
  let threads = new Set<ThreadId>()
  let inFlight = new Set<ThreadId>()
  const turns = new Map<MessageId, ThreadId>()
  /** Each thread after the last commit of this import. */
  const ends = new Map<ThreadId, StoredSeq>()
  /** Why the rest of a thread is refused. */
  const closed = new Map<ThreadId, string>()

  const close = ({ threadId }: Portion, { isOfThread, why }: Refusal): void => {
    if (isOfThread) closed.set(threadId, why)
  }

  /** Returns why it was refused. */
  const commitAlone = async (portion: Portion): Promise<string | undefined> => {
    const known = closed.get(portion.threadId)
    if (known !== undefined) return known
    const refusal = await retryWhileStale(setTimeout, async () => {
      const planned = await planPortion(store, portion, ends, pace)
      if (planned === 'stale' || 'why' in planned) return planned
      return judge(planned, await commitWhenFree(store, planned), ends)
    })
    if (refusal !== undefined) close(portion, refusal)
    return refusal?.why
  }

  const writeAlone = async (portion: Portion): Promise<void> => {
    const refused = await commitAlone(portion)
    if (refused === undefined) return
    const { create, units } = portion
    const isNew = create !== undefined && !ends.has(portion.threadId)
    if (isNew) {
      const why = await commitAlone({ ...portion, units: [] })
      if (why !== undefined && units.length === 0) onRefused(portion, undefined, why)
    }
    // A portion is refused as a whole because of one unit, so each unit is then written by itself.
    for (const unit of units) {
      const why = await commitAlone({ ...portion, units: [unit] })
      if (why !== undefined) onRefused(portion, unit, why)
    }
  }

  /** In one transaction; what is refused of it is then written by itself. */
  const writeTogether = async (group: readonly Planned[]): Promise<void> => {
    if (group.length === 0) return
    const results = await store.commit(group.map(({ commit }) => commit))
    for (const [index, { portion, commit }] of group.entries()) {
      const result = results[index]
      const isBusyNow = result === undefined || result.kind === 'busy'
      const refusal = judge(commit, isBusyNow ? await commitWhenFree(store, commit) : result, ends)
      if (refusal === undefined) continue
      // Whoever holds the thread is not waited for once more with each of its units.
      if (refusal !== 'stale') close(portion, refusal)
      await writeAlone(portion)
    }
  }

  const write = async (portions: readonly Portion[]): Promise<void> => {
    let group: Planned[] = []
    const writeGroup = async () => {
      const full = group
      group = []
      await writeTogether(full)
    }
    for (const portion of portions) {
      await pace()
      // Planned for the thread as its previous portion leaves it.
      if (group.some(({ commit }) => commit.append.threadId === portion.threadId)) {
        await writeGroup()
      }
      const planned = closed.has(portion.threadId)
        ? undefined
        : await planPortion(store, portion, ends, pace)
      if (planned === undefined || planned === 'stale' || 'why' in planned) {
        await writeAlone(portion)
        continue
      }
      // Together they would be written in slices, which keep every other writer waiting.
      if (isLong([...group.map(({ commit }) => commit), planned])) await writeGroup()
      group.push({ portion, commit: planned })
    }
    await writeGroup()
    for (const { units } of portions) for (const { id } of units) turns.delete(id)
  }

  /** One group is written while the next is read: neither waits for the other. */
  const begin = async (): Promise<void> => {
    await writing
    const portions = waiting
    if (portions.length === 0) return
    inFlight = threads
    threads = new Set()
    waiting = []
    events = 0
    writing = write(portions).then(() => inFlight.clear())
    // The next `await` of it throws the error; until then it must not count as unhandled.
    writing.catch(() => {})
  }

  const flush = async (): Promise<void> => {
    await begin()
    await writing
  }

  /** A group is closed only where another append begins: what is added to a thread next may belong to its creation. */
  const push = async (portion: Portion): Promise<void> => {
    const { threadId, units } = portion
    const last = waiting.at(-1)
    const size = countEvents(units)
    if (last?.threadId === threadId && countEvents(last.units) + size <= mostAtOnce) {
      waiting[waiting.length - 1] = { ...last, units: [...last.units, ...units] }
    } else {
      if (events >= mostEvents || threads.size >= mostThreads) await begin()
      waiting.push(portion)
    }
    threads.add(threadId)
    events += size
    for (const { id, isTurn } of units) if (isTurn) turns.set(id, threadId)
  }

  return {
    flush,
    async flushThread(threadId) {
      if (threads.has(threadId)) await flush()
      else if (inFlight.has(threadId)) await writing
    },
    threadOf: (turnId) => turns.get(turnId),
    async add({ create, ...portion }) {
      if (create !== undefined) await push({ ...portion, create, units: [] })
      for (const units of cutUnits(portion.units)) await push({ ...portion, units })
    },
  }
}

interface Planned {
  readonly portion: Portion
  readonly commit: PlannedCommit
}

const countEvents = (units: readonly Unit[]): number =>
  units.reduce((sum, { events }) => sum + events.length, 0)

/** `held`: another transaction has held the thread's row all the time, and nothing was stored. */
type CommitResult = Exclude<AppendResult, { readonly kind: 'busy' }> | { readonly kind: 'held' }

/**
 * Commits as soon as no other transaction holds the thread's row. Always the same plan: the store recognizes it if an attempt
 * without an answer was stored, while a new plan of the same events would be refused or stored twice (LG1). Throws where it
 * remains unknown whether one was: a report must not say that it was not.
 */
export async function commitWhenFree(store: Store, planned: PlannedCommit): Promise<CommitResult> {
  let isInDoubt = false
  const attempt = async (): Promise<CommitResult | 'stale'> => {
    const [result] = await store.commit([planned])
    if (result !== undefined && result.kind !== 'busy') return result
    isInDoubt = result?.isInDoubt === true
    return 'stale'
  }
  const result = await attemptWhileStale(setTimeout, attempt, mostAttempts)
  if (result !== 'stale') return result
  if (!isInDoubt) return { kind: 'held' }
  throw new HoldfastError(
    'store-locked',
    `Another process held the rows of the thread ${planned.append.threadId} for too long. Import it again.`,
    { isInDoubt: true },
  )
}

export const newest = (threadId: ThreadId): PageQuery => ({
  ...{ threadId, limit: 1, before: null },
  ...{ live: 'exclude', results: 'lazy' },
})

/** Splits units into appends of bounded size, whatever the size of the thread. */
function* cutUnits(all: readonly Unit[]): Generator<readonly Unit[]> {
  let units: Unit[] = []
  let events = 0
  for (const unit of all) {
    units.push(unit)
    events += unit.events.length
    if (events < mostAtOnce) continue
    yield units
    units = []
    events = 0
  }
  if (units.length > 0) yield units
}

interface Refusal {
  readonly why: string
  /**
   * Because of the thread and not of a unit: what follows is refused too, even if it could be stored by then. It would
   * stand there without what comes before it.
   */
  readonly isOfThread: boolean
}

const ofThread = (why: string): Refusal => ({ why, isOfThread: true })
const ofUnit = (why: string): Refusal => ({ why, isOfThread: false })

/** Plans a portion for its thread as it is now. */
async function planPortion(
  store: Store,
  { threadId, units, create, incarnation: planned }: Portion,
  ends: ReadonlyMap<ThreadId, StoredSeq>,
  pace: Pacer,
): Promise<PlannedCommit | Refusal | 'stale'> {
  const events = units.flatMap((unit) => unit.events)
  const own = ends.get(threadId)
  if (own === undefined && create !== undefined) {
    return planAppend({ threadId, events, expectedSeq: 0, create }, pace)
  }
  const thread = await store.readThread(threadId)
  const expectedSeq = thread?.seq ?? 0
  // Behind its own last commit nobody else has written: nothing runs, and what waits was seen before.
  const { seq: end, incarnation = planned ?? '' } = own ?? { seq: 0 }
  const isOther = isAnother(incarnation, thread?.incarnation ?? '')
  if (expectedSeq !== end || isOther) {
    const page = await store.readPage(newest(threadId))
    if (page !== null && page.seq !== expectedSeq) return 'stale'
    if (isAnother(incarnation, page?.place?.incarnation ?? '')) return ofThread(isDeleted)
    if (page !== null && isOpenPage(page)) return ofThread(isBusy)
  }
  const waiting = thread?.queue.find(({ id }) => units.some((unit) => unit.id === id))
  if (waiting !== undefined) {
    return ofUnit(`A message with the id ${waiting.id} waits in this thread.`)
  }
  const append = { threadId, events, expectedSeq, incarnation: thread?.incarnation }
  return planAppend(append, pace)
}

async function planAppend(append: Append, pace: Pacer): Promise<PlannedCommit | Refusal> {
  try {
    const planned = await runPaced(planInSteps(append), pace)
    return 'kind' in planned ? toRefusal(planned) : planned
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'bad-event') return ofUnit(error.message)
    throw error
  }
}

const toRefusal = ({ subject, id, state }: Extract<AppendResult, { kind: 'illegal' }>): Refusal =>
  ofUnit(`The ${subject} ${id} is ${state} already.`)

/** What the store's result means; undefined: it was stored. */
function judge(
  { append: { threadId, create } }: PlannedCommit,
  result: CommitResult,
  ends: Map<ThreadId, StoredSeq>,
): Refusal | 'stale' | undefined {
  switch (result.kind) {
    case 'appended':
      ends.set(threadId, result)
      return undefined
    case 'stale':
      return create === undefined ? 'stale' : ofThread(isTaken)
    case 'illegal':
      return toRefusal(result)
    case 'no-thread':
      return ofThread(create === undefined ? isDeleted : isTaken)
    case 'held':
      return ofThread(isHeld)
    default:
      return ofUnit(`The store rejected it: ${result.kind}.`)
  }
}
