import { setTimeout } from 'node:timers/promises'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Unit } from '../import/import-units.ts'
import { commitAppend } from '../store/commit-group.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import { isAnother } from '../core/thread-place.ts'
import type { Page, PageQuery, Store, StoredSeq } from '../store/store.ts'
import type { Pacer } from '../store/pacer.ts'

/** Units of one thread, in order, that are written together. */
export interface Portion {
  readonly threadId: ThreadId
  readonly where: string
  readonly units: readonly Unit[]
  /** The incarnation of the thread that they continue, where they were planned for what it has (OP6). */
  readonly incarnation?: string
}

export interface ImportWriter {
  /** Writes once a group is full; `onRefused` is called with each refused unit, and the rest is stored. */
  add(portion: Portion): Promise<void>
  flush(): Promise<void>
  /** The thread of a turn that is not written yet. */
  threadOf(turnId: MessageId): ThreadId | undefined
}

export const isBusy =
  'A turn of this thread is running or waiting. Import it when the turn has ended.'

const isDeleted = 'The thread was deleted during the import.'

/** Whether the thread's last turn runs or waits: nothing may be stored behind it, or nothing could end it (AP8, OP5a). */
export const isOpenPage = ({ live, messages: [last] }: Pick<Page, 'live' | 'messages'>): boolean =>
  live !== null || (last?.role === 'assistant' && last.progress.status !== 'ended')

/** The most events of one transaction. */
const mostEvents = 400
/** The most events of one append. */
const mostAtOnce = 100

export function createImportWriter(
  store: Store,
  pace: Pacer,
  onRefused: (portion: Portion, unit: Unit, why: string) => void,
): ImportWriter {
  let waiting: Portion[] = []
  let events = 0
  let writing: Promise<void> = Promise.resolve()
  const turns = new Map<MessageId, ThreadId>()
  /** Each thread after the last commit of this import. */
  const ends = new Map<ThreadId, StoredSeq>()
  /** Why the rest of a thread is refused. */
  const closed = new Map<ThreadId, string>()

  const commit = async (portion: Portion): Promise<string | undefined> => {
    const known = closed.get(portion.threadId)
    if (known !== undefined) return known
    const refusal = await tryCommit(store, portion, ends, pace)
    if (refusal?.isOfThread === true) closed.set(portion.threadId, refusal.why)
    return refusal?.why
  }

  const write = async (portions: readonly Portion[]): Promise<void> => {
    for (const portion of portions) {
      await pace()
      if ((await commit(portion)) === undefined) continue
      // A portion is refused as a whole because of one unit, so each unit is then written by itself.
      for (const unit of portion.units) {
        const why = await commit({ ...portion, units: [unit] })
        if (why !== undefined) onRefused(portion, unit, why)
      }
    }
    for (const { units } of portions) for (const { id } of units) turns.delete(id)
  }

  /** One group is written while the next is read: neither waits for the other. */
  const begin = async (): Promise<void> => {
    await writing
    const portions = waiting
    if (portions.length === 0) return
    waiting = []
    events = 0
    writing = write(portions)
    // The next `await` of it throws the error; until then it must not count as unhandled.
    writing.catch(() => {})
  }

  return {
    async flush() {
      await begin()
      await writing
    },
    threadOf: (turnId) => turns.get(turnId),
    async add(portion) {
      for (const units of cutUnits(portion.units)) {
        waiting.push({ ...portion, units })
        for (const { id, isTurn, events: unitEvents } of units) {
          events += unitEvents.length
          if (isTurn) turns.set(id, portion.threadId)
        }
        if (events >= mostEvents) await begin()
      }
    },
  }
}

export const newest = (threadId: ThreadId): PageQuery => ({
  ...{ threadId, limit: 1, before: null },
  ...{ live: 'exclude', results: 'lazy' },
})

/** Splits units into appends of bounded size, whatever the size of the thread. */
export function* cutUnits(all: readonly Unit[]): Generator<readonly Unit[]> {
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

/** Returns why it was refused. */
async function tryCommit(
  store: Store,
  { threadId, units, incarnation: planned }: Portion,
  ends: Map<ThreadId, StoredSeq>,
  pace: Pacer,
): Promise<Refusal | undefined> {
  const events = units.flatMap((unit) => unit.events)
  try {
    return await retryWhileStale(setTimeout, async () => {
      const thread = await store.readThread(threadId)
      const expectedSeq = thread?.seq ?? 0
      // Behind its own last commit nobody else has written: nothing runs, and what waits was seen before.
      const { seq: end, incarnation = planned ?? '' } = ends.get(threadId) ?? { seq: 0 }
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
      let result = await commitAppend(store, append, pace)
      // Each attempt has already waited for the row as long as the store waits for a lock.
      while (result.kind === 'busy') result = await commitAppend(store, append, pace)
      switch (result.kind) {
        case 'appended':
          ends.set(threadId, result)
          return undefined
        case 'stale':
          return 'stale'
        case 'illegal':
          return ofUnit(`The ${result.subject} ${result.id} is ${result.state} already.`)
        case 'no-thread':
          return ofThread(isDeleted)
        default:
          return ofUnit(`The store rejected it: ${result.kind}.`)
      }
    })
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'bad-event') return ofUnit(error.message)
    throw error
  }
}
