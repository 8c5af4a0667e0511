import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { furthestMs } from '../views/iso-date.ts'
import { columnOf, decodeColumn } from './columns.ts'
import type { ReportMend } from './old-message.ts'

/** The first of these fields that is present; old data has several names for one thing. */
export function fieldOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some) && object[some] !== null)
  return name === undefined ? undefined : object[name]
}

/** Like `fieldOf`, but `null` is a value like any other. */
export function valueOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some))
  return name === undefined ? undefined : object[name]
}

export function textOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = fieldOf(object, ...names)
  return typeof value === 'string' ? value : undefined
}

/** Ids of old data may be numbers, or objects as MongoDB writes them. */
export function idOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const found = fieldOf(object, ...names)
  const value = isJsonObject(found) ? found.$oid : found
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function objectOf(object: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = columnOf(object, ...names)
  return isJsonObject(value) ? value : undefined
}

export function listOf(object: JsonObject, ...names: readonly string[]): readonly Json[] {
  const value = columnOf(object, ...names)
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, 'true', 't', 'yes', 'y', '1'].map((word) => [word, true] as const),
  ...[false, 0, 'false', 'f', 'no', 'n', '0'].map((word) => [word, false] as const),
])

/** A boolean as databases return it: some have 0 and 1, and a CSV has words. */
export const readFlag = (value: Json | undefined): boolean | undefined =>
  flags.get(typeof value === 'string' ? value.trim().toLowerCase() : value)

export const flagOf = (object: JsonObject, ...names: readonly string[]): boolean | undefined =>
  readFlag(fieldOf(object, ...names))

/** The parts of a message. Model messages have them as their content; content that is a string is plain text. */
export function partListOf(message: JsonObject): readonly Json[] {
  const parts = listOf(message, 'parts')
  if (parts.length > 0) return parts
  return Array.isArray(message.content) ? (message.content as readonly Json[]) : []
}

/** The fields in which messages and rows have their calls, if not in parts. */
export const callLists = ['toolCalls', 'tool_calls'] as const

/** The calls of a list. An entry that is not a call is left out and reported. */
export function callListOf(
  object: JsonObject,
  names: readonly [string, ...string[]],
  mend: ReportMend,
): readonly JsonObject[] {
  return listOf(object, ...names).flatMap((item, index) => {
    const call = decodeColumn(item)
    if (isJsonObject(call)) return [call]
    mend(`${names[0]}[${index}]: It is no call: it was left out.`)
    return []
  })
}

/** The index of the call's step, where the data has it. */
export function stepOf(call: JsonObject): number | undefined {
  const step = fieldOf(call, 'step')
  return Number.isSafeInteger(step) ? (step as number) : undefined
}

const dateFields = [
  ...['createdAt', 'created_at', 'creationDate', 'creation_date', 'created'],
  ...['timestamp', 'sentAt', 'sent_at', 'insertedAt', 'inserted_at', 'date'],
] as const

/** AI SDK 5 and later have no field for a date, so apps keep it in the metadata. */
export function dateOf(object: JsonObject): number | undefined {
  const metadata = objectOf(object, 'metadata')
  return (
    readOldDate(fieldOf(object, ...dateFields)) ??
    (metadata === undefined ? undefined : readOldDate(fieldOf(metadata, 'createdAt', 'created_at')))
  )
}

/** Reports a date that cannot be parsed. */
export function checkDate(object: JsonObject, mend: ReportMend): void {
  const date = fieldOf(object, ...dateFields)
  if (date === undefined || dateOf(object) !== undefined) return
  mend(`Its date ${JSON.stringify(date).slice(0, 80)} cannot be read: it was left out.`)
}

const iso =
  /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i

/** A date of old data in milliseconds. `undefined`: there is none, or it cannot be parsed. */
export function readOldDate(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return readNumber(value)
  // As MongoDB writes them: {"$date": …}, and in it perhaps {"$numberLong": …}.
  if (isJsonObject(value)) return readOldDate(value.$date ?? value.$numberLong)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return readNumber(Number(text))
  const match = iso.exec(text)
  if (match === null) return /\b(?:GMT|UTC)\b/.test(text) ? toMs(text) : undefined
  const [, day, time = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  // A date without a zone is UTC: the same file must be read the same on every machine.
  const offset = /^[+-]/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
    : 'Z'
  return toMs(`${day}T${time}${seconds}${fraction.slice(0, 4)}${offset}`)
}

function toMs(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** Numbers of the size of today's seconds are seconds; as milliseconds they would be in 1970–1973. */
function readNumber(value: number): number | undefined {
  const ms = Math.trunc(value >= 1e9 && value < 1e11 ? value * 1000 : value)
  return Math.abs(ms) <= furthestMs ? ms : undefined
}
