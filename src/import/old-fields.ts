import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { Mend } from './old-message.ts'
import { readOldDate } from './old-date.ts'
import { parseJsonText } from './read-arguments.ts'

/** The first of these fields that is there; old data spells one thing in several ways. */
export function fieldOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some) && object[some] !== null)
  return name === undefined ? undefined : object[name]
}

/** As `fieldOf`, where `null` is a value like any other. */
export function valueOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some))
  return name === undefined ? undefined : object[name]
}

export function textOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = fieldOf(object, ...names)
  return typeof value === 'string' ? value : undefined
}

/** Ids of old data may be numbers, or as MongoDB writes them. */
export function idOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const found = fieldOf(object, ...names)
  const value = isJsonObject(found) ? found.$oid : found
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function objectOf(object: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = unpack(fieldOf(object, ...names))
  return isJsonObject(value) ? value : undefined
}

export function listOf(object: JsonObject, ...names: readonly string[]): readonly Json[] {
  const value = unpack(fieldOf(object, ...names))
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** A dump of a table has its JSON columns as text. */
const unpack = (value: Json | undefined): Json | undefined =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJsonText(value) : value

/** The parts of a message. Model messages have them as their content, which as text is just text. */
export function partListOf(message: JsonObject): readonly Json[] {
  const parts = listOf(message, 'parts')
  if (parts.length > 0) return parts
  return Array.isArray(message.content) ? (message.content as readonly Json[]) : []
}

/** Where messages and rows have their calls, if not in parts. */
export const callLists = ['toolCalls', 'tool_calls'] as const

/** The calls that a list has. What is none is left out and said so. */
export function callListOf(
  object: JsonObject,
  names: readonly [string, ...string[]],
  mend: Mend,
): readonly JsonObject[] {
  return listOf(object, ...names).flatMap((item, index) => {
    if (isJsonObject(item)) return [item]
    mend(`${names[0]}[${index}]: It is no call: it was left out.`)
    return []
  })
}

export const flagOf = (object: JsonObject, ...names: readonly string[]): boolean | undefined => {
  const value = fieldOf(object, ...names)
  return typeof value === 'boolean' ? value : undefined
}

/** The number of the step that a call is of, where the data says so. */
export function stepOf(call: JsonObject): number | undefined {
  const step = fieldOf(call, 'step')
  return Number.isSafeInteger(step) ? (step as number) : undefined
}

const dateFields = ['createdAt', 'created_at', 'creationDate', 'creation_date'] as const

/** AI SDK 5 and later have no place for a date but the app's own metadata. */
export function dateOf(object: JsonObject): number | undefined {
  const metadata = objectOf(object, 'metadata')
  return (
    readOldDate(fieldOf(object, ...dateFields)) ??
    (metadata === undefined ? undefined : readOldDate(fieldOf(metadata, 'createdAt', 'created_at')))
  )
}

/** Says of a date that it cannot be read. */
export function checkDate(object: JsonObject, mend: Mend): void {
  const date = fieldOf(object, ...dateFields)
  if (date === undefined || dateOf(object) !== undefined) return
  mend(`Its date ${JSON.stringify(date).slice(0, 80)} cannot be read: it was left out.`)
}
