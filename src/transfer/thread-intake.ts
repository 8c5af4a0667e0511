import { isJsonObject } from '../core/json.ts'
import { dateOf } from '../import/old-fields.ts'
import { entityOf, roleOf, toKnownNames } from '../import/old-shapes.ts'
import { findOrder } from '../import/order.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { toKnownMessages } from '../import/read-legacy-messages.ts'
import type { ImportItem, ThreadFields } from './import-item.ts'

/** A message of the source, and its position there. */
export interface PlacedValue {
  readonly where: string
  readonly value: unknown
  readonly page?: number
}

/** A thread of the source while its messages arrive. */
export interface ThreadIntake {
  readonly key: string
  readonly where: string
  fields: ThreadFields
  isComplete: boolean
  messages: PlacedValue[]
  /** Those that are not shown: written last, since what they follow has to be there. */
  readonly hidden: PlacedValue[]
  /** Those that waited for their turn. */
  readonly queued: PlacedValue[]
  /** All messages are needed to find their order: nothing is written before the end of the thread. */
  isHeld: boolean
  /** The newest date that was written, where messages are written as they arrive. */
  lastAt: number | undefined
}

export function createIntake(key: string, where: string): ThreadIntake {
  const state = { isHeld: false, lastAt: undefined }
  return {
    key,
    where,
    fields: {},
    isComplete: true,
    messages: [],
    hidden: [],
    queued: [],
    ...state,
  }
}

export function addFields(
  intake: ThreadIntake,
  { fields, isComplete }: Extract<ImportItem, { readonly kind: 'thread' }>,
): void {
  intake.fields = { ...intake.fields, ...fields }
  intake.isComplete = isComplete
}

export function addMessage(
  intake: ThreadIntake,
  { where, value, page, isHidden, isQueued }: Extract<ImportItem, { readonly kind: 'message' }>,
): void {
  if (isHidden === true) intake.hidden.push({ where, value })
  else if (isQueued === true) intake.queued.push({ where, value })
  else if (page === undefined) intake.messages.push({ where, value })
  else {
    intake.isHeld = true
    intake.messages.push({ where, value, page })
  }
}

const batchSize = 1_000
/** Without a user's message to cut before, a batch is cut anywhere at this size. */
const longestBatch = 10_000

/**
 * Whether the messages so far are written before `next` is added, if they are in order. The cut is made before a
 * message of the user, so that no turn is split and it is known what follows every turn.
 */
export function isFull(intake: ThreadIntake, next: unknown): boolean {
  const { messages, fields, isComplete, isHeld } = intake
  if (isHeld || messages.length < batchSize || (fields.id === undefined && !isComplete)) {
    return false
  }
  return isOfUser(next) || (messages.length >= longestBatch && !belongsToOthers(next))
}

/** Whether the messages certainly continue what was written before, oldest first. */
export function* isInOrder({ messages, fields, lastAt }: ThreadIntake): PausableWork<boolean> {
  if (fields.isOrdered === true) return true
  if (messages.some(({ page }) => page !== undefined)) return false
  const values = yield* toKnownMessages(messages.map(({ value }) => value))
  const [first] = values
  const from = first == null ? undefined : dateOf(first)
  if (lastAt !== undefined && from !== undefined && from < lastAt) return false
  const { basis, isGuess } = yield* findOrder(values)
  return basis === 'given' && !isGuess
}

/** The newest date among the messages. */
export function* latestIn(messages: readonly PlacedValue[]): PausableWork<number | undefined> {
  let latest: number | undefined
  for (const { value } of messages) {
    yield
    const at = isJsonObject(value) ? dateOf(value) : undefined
    if (at !== undefined && (latest === undefined || at > latest)) latest = at
  }
  return latest
}

/** Rows are read together, and results are read with their calls. */
const belongsToOthers = (value: unknown): boolean => {
  const message = isJsonObject(value) ? toKnownNames(value) : undefined
  return message !== undefined && (entityOf(message) !== undefined || roleOf(message) === 'tool')
}

const isOfUser = (value: unknown): boolean => {
  const message = isJsonObject(value) ? toKnownNames(value) : undefined
  return message !== undefined && (entityOf(message) === 'USER' || roleOf(message) === 'user')
}
