import { isJsonObject, type JsonObject } from '../core/json.ts'
import { dateOf } from '../import/old-fields.ts'
import type { ImportItem, ThreadFields } from './import-item.ts'
import type { PlacedValue } from './read-batch.ts'

/** A thread of the source while its messages arrive. */
export interface ThreadIntake {
  readonly key: string
  readonly where: string
  fields: ThreadFields
  isComplete: boolean
  messages: PlacedValue[]
}

export function createIntake(key: string, where: string): ThreadIntake {
  return { key, where, fields: {}, isComplete: true, messages: [] }
}

export function addFields(
  intake: ThreadIntake,
  { fields, isComplete }: Extract<ImportItem, { readonly kind: 'thread' }>,
): void {
  intake.fields = { ...intake.fields, ...fields }
  intake.isComplete = isComplete
}

const batchSize = 1_000
/** Where no user message comes to cut before, a cut is made anywhere rather than never. */
const longestBatch = 10_000

/**
 * Whether what has come is written before `next` is added. The cut is made before a message of the
 * user, so that no turn is cut in two and it is known what every turn was followed by.
 */
export function isFull({ messages, fields, isComplete }: ThreadIntake, next: unknown): boolean {
  if (messages.length < batchSize || (fields.id === undefined && !isComplete)) return false
  if (isGivenNewestFirst(messages)) return false
  return isOfUser(next) || (messages.length >= longestBatch && !belongsToOthers(next))
}

/** Rows are read together, and what tools gave is read with its calls. */
const belongsToOthers = (value: unknown): boolean =>
  isRow(value) || (isJsonObject(value) && value.role === 'tool')

const isRow = (value: unknown): value is JsonObject => isJsonObject(value) && 'entity' in value

const isOfUser = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value.role, value.entity].some(
    (word) => typeof word === 'string' && word.toLowerCase() === 'user',
  )

/** Rows may be turned round by their reader, which has to see all of them for that. */
function isGivenNewestFirst(messages: readonly PlacedValue[]): boolean {
  const [first, last] = [messages[0]?.value, messages.at(-1)?.value]
  if (!isRow(first) || !isJsonObject(last)) return false
  const [from, to] = [dateOf(first), dateOf(last)]
  return from !== undefined && to !== undefined && from > to
}
