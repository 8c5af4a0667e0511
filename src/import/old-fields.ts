import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { furthestMs } from '../views/iso-date.ts'
import type { ReportMend } from './old-message.ts'
import { deepestValue, isDeeperThan } from '../core/json-depth.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { isWideMessage, isWideValue, mostImported } from './message-width.ts'
import { charsAtOnce, type ParsedJson, parseJsonInSteps } from './parse-json-in-steps.ts'

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

/** The columns that are text, as long as their object lives. */
const decoded = new WeakMap<JsonObject, Map<string, ParsedJson>>()

/**
 * The first of these fields that is present, decoded if it is a column: a dump of a table has its JSON columns as text.
 * Several readers look at each column of a message. It is decoded once, because a column of megabytes takes as long as the
 * message did (OP7). `undefined` also where the text is not JSON, or too deep or too wide.
 */
export function columnOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some) && object[some] !== null)
  const value = name === undefined ? undefined : object[name]
  if (name === undefined || !isColumnText(value)) return value
  const found =
    decoded.get(object)?.get(name) ?? keep(object, name, runToEnd(decodeColumnText(value)))
  return found.kind === 'value' ? found.value : undefined
}

/** The same as `columnOf` finds later, in steps: a column may have megabytes. Undefined: it is no text. */
export function* decodeInSteps(
  object: JsonObject,
  name: string,
): PausableWork<ParsedJson | undefined> {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  if (!isColumnText(value)) return undefined
  return decoded.get(object)?.get(name) ?? keep(object, name, yield* decodeColumnText(value))
}

function keep(object: JsonObject, name: string, text: ParsedJson): ParsedJson {
  const known = decoded.get(object)
  if (known === undefined) decoded.set(object, new Map([[name, text]]))
  else known.set(name, text)
  return text
}

/** A value that is not a field of an object: an entry of a list. */
export const decodeColumn = (value: Json | undefined): Json | undefined =>
  isColumnText(value) ? parseJsonText(value) : value

const isColumnText = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^\s*[[{]/.test(value)

/** JSON text as a value, of a call or an entry of a list. `undefined`: it is not JSON, or too deep or too wide. */
export function parseJsonText(text: string): Json | undefined {
  const found = runToEnd(decodeText(text, isWideValue))
  return found.kind === 'value' ? found.value : undefined
}

/** The same of a column, which may have the parts of the message, or the message. */
export const decodeColumnText = (text: string): PausableWork<ParsedJson> =>
  decodeText(text, isWideMessage)

/**
 * What is a text in a message has not been checked with the message, and the readers walk its value by recursion. It is not
 * parsed below the level where it is too deep: to parse 8 MB of brackets takes seconds.
 */
function* decodeText(
  text: string,
  isWide: (value: Json) => PausableWork<boolean>,
): PausableWork<ParsedJson> {
  const bounds = { mostDepth: deepestValue, mostMembers: mostImported.keys }
  const found = yield* parseJsonInSteps(text, bounds)
  if (found.kind !== 'value') return found
  // Of a longer text, the parser has counted them.
  const isDeep = text.length <= charsAtOnce && isDeeperThan(found.value, deepestValue)
  if (isDeep) return { kind: 'too-deep' }
  return (yield* isWide(found.value)) ? { kind: 'too-wide' } : found
}

/** The text without what is deeper than `most` levels: `null` stands in its place. It is not parsed before. */
export function* cutDeepText(text: string, most = deepestValue): PausableWork<string> {
  const pieces: string[] = []
  let [depth, from] = [0, 0]
  let [inString, isEscaped] = [false, false]
  for (let at = 0; at < text.length; at++) {
    if (at % charsAtOnce === 0) yield
    const char = text[at]
    if (isEscaped) isEscaped = false
    else if (inString) {
      isEscaped = char === '\\'
      inString = char !== '"'
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') {
      if (depth++ === most) pieces.push(text.slice(from, at), 'null')
    } else if ((char === '}' || char === ']') && --depth === most) from = at + 1
  }
  return depth > most ? '' : [...pieces, text.slice(from)].join('')
}
