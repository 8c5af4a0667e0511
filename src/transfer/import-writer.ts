import { setTimeout } from 'node:timers/promises'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Unit } from '../import/import-units.ts'
import { commitAppend } from '../store/commit-group.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import type { Store } from '../store/store.ts'
import type { Pacer } from './pacer.ts'

/** Units of one thread, in order, that are written together. */
export interface Portion {
  readonly threadId: ThreadId
  readonly where: string
  readonly units: readonly Unit[]
}

export interface ImportWriter {
  /** Written once enough has come together; a refused unit is told to `onRefused`, the rest is kept. */
  add(portion: Portion): Promise<void>
  flush(): Promise<void>
  /** The thread of a turn that is not written yet. */
  threadOf(turnId: MessageId): ThreadId | undefined
}

/** Of one transaction. */
const mostEvents = 400
/** Of one append. */
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

  const write = async (portions: readonly Portion[]): Promise<void> => {
    for (const portion of portions) {
      await pace()
      if ((await tryCommit(store, portion)) === undefined) continue
      // One of its units is at fault, and a portion is refused as a whole: each by itself.
      for (const unit of portion.units) {
        const why = await tryCommit(store, { ...portion, units: [unit] })
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
    // Whoever waits for it next is told; until then it is nobody's failure.
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

/** Parts of the size of an append at most, whatever the size of a thread. */
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

/** Why it was refused. */
async function tryCommit(store: Store, { threadId, units }: Portion): Promise<string | undefined> {
  const events = units.flatMap((unit) => unit.events)
  try {
    return await retryWhileStale(setTimeout, async () => {
      const thread = await store.readThread(threadId)
      const append = { threadId, events, expectedSeq: thread?.seq ?? 0 }
      let result = await commitAppend(store, append)
      // Each time the store has waited for the row for as long as it waits for one.
      while (result.kind === 'busy') result = await commitAppend(store, append)
      switch (result.kind) {
        case 'appended':
          return undefined
        case 'stale':
          return 'stale'
        case 'illegal':
          return `The ${result.subject} ${result.id} is ${result.state} already.`
        default:
          return `The store refused it: ${result.kind}.`
      }
    })
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'bad-event') return error.message
    throw error
  }
}
