import { isJsonObject } from '../core/json.ts'
import { dateOf } from '../import/old-fields.ts'
import { entityOf, roleOf, toKnownNames } from '../import/old-names.ts'
import { findOrder } from '../import/order.ts'
import { runToEnd } from '../import/pausable-work.ts'
import type { ImportItem, ThreadFields } from './import-item.ts'

/** A message of the source, and where it stands there. */
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
  /** All of it is needed to find its order: nothing is written before its end. */
  isHeld: boolean
  /** The newest date that has been written, where it is written as it comes. */
  lastAt: number | undefined
}

export function createIntake(key: string, where: string): ThreadIntake {
  const state = { isHeld: false, lastAt: undefined }
  return { key, where, fields: {}, isComplete: true, messages: [], ...state }
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
  { where, value, page }: Extract<ImportItem, { readonly kind: 'message' }>,
): void {
  if (page === undefined) intake.messages.push({ where, value })
  else {
    intake.isHeld = true
    intake.messages.push({ where, value, page })
  }
}

const batchSize = 1_000
/** Where no user message comes to cut before, a cut is made anywhere rather than never. */
const longestBatch = 10_000

/**
 * Whether what has come is written before `next` is added. The cut is made before a message of the
 * user, so that no turn is cut in two and it is known what every turn was followed by.
 */
export function isFull(intake: ThreadIntake, next: unknown): boolean {
  const { messages, fields, isComplete, isHeld } = intake
  if (isHeld || messages.length < batchSize || (fields.id === undefined && !isComplete)) {
    return false
  }
  if (!isOfUser(next) && (messages.length < longestBatch || belongsToOthers(next))) return false
  intake.isHeld = !isInOrder(intake)
  return !intake.isHeld
}

/** Whether it goes on oldest first, without a doubt, from what was written of it before. */
export function isInOrder({ messages, fields, lastAt }: ThreadIntake): boolean {
  if (fields.isOrdered === true) return true
  if (messages.some(({ page }) => page !== undefined)) return false
  const values = messages.map(({ value }) => (isJsonObject(value) ? toKnownNames(value) : null))
  const [first] = values
  const from = first == null ? undefined : dateOf(first)
  if (lastAt !== undefined && from !== undefined && from < lastAt) return false
  const { basis, isGuess } = runToEnd(findOrder(values))
  return basis === 'given' && !isGuess
}

/** The newest date among the messages. */
export const latestIn = (messages: readonly PlacedValue[]): number | undefined =>
  messages.reduce<number | undefined>((latest, { value }) => {
    const at = isJsonObject(value) ? dateOf(value) : undefined
    return at === undefined || (latest !== undefined && latest >= at) ? latest : at
  }, undefined)

/** Rows are read together, and what tools gave is read with its calls. */
const belongsToOthers = (value: unknown): boolean => {
  const message = isJsonObject(value) ? toKnownNames(value) : undefined
  return message !== undefined && (entityOf(message) !== undefined || roleOf(message) === 'tool')
}

const isOfUser = (value: unknown): boolean => {
  const message = isJsonObject(value) ? toKnownNames(value) : undefined
  return message !== undefined && (entityOf(message) === 'USER' || roleOf(message) === 'user')
}
