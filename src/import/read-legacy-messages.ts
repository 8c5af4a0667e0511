import type { NewEvent } from '../core/event.ts'
import { deepestValue } from '../core/json-depth.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { isTooWide, type JsonWidth } from '../core/json-width.ts'
import { noCall, type OldThread, type PlacedMessage } from './entity-turns.ts'
import { createIdKeeper, createMessageNamer, type IsTaken, toUnits } from './import-units.ts'
import { createReport, type Failed, type Mended, type Report } from './old-message.ts'
import { isMastraContent, toKnownNames } from './old-shapes.ts'
import { type ListOptions, readMessages } from './read-messages.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { isWideValue, tooManyValues } from './message-width.ts'
import { callLists, columnOf, cutDeepText, decodeColumnText, decodeInSteps } from './old-fields.ts'
import { usedLists } from './sdk-message.ts'
import { fileLists } from './message-parts.ts'

export interface LegacyOptions extends ListOptions {
  readonly threadId: string
  /** Whether an id is in use elsewhere; such an id is not kept. */
  readonly isTaken?: IsTaken
}

export interface LegacyReading {
  readonly events: readonly NewEvent[]
  readonly mended: readonly Mended[]
  readonly guessed: readonly Mended[]
  readonly failed: readonly Failed[]
  readonly counts: { readonly messages: number; readonly calls: number }
}

/**
 * The messages of one old thread as events, oldest first. Never throws: what cannot be read is named in
 * `failed`, and everything else is kept. The same data gives the same events.
 */
export function readLegacyMessages(
  messages: readonly unknown[],
  options: LegacyOptions,
): LegacyReading {
  const report = createReport()
  const thread = runToEnd(readOldMessages(messages, options, report))
  for (const { index } of thread.orphans) report.fail(index, noCall)
  const ids = createIdKeeper(options.threadId, options.isTaken)
  const mendAt = (index: number) => (what: string) => report.mend(index, what)
  const namer = createMessageNamer(ids)
  const named = thread.messages.map((message) => namer.name(message, mendAt(message.index)))
  const place = { at: options.at, ids, replyTo: null, isFollowed: false, mendAt }
  const units = runToEnd(toUnits(named, place))
  const { mended, guessed, failed } = report
  const calls = units.reduce((sum, { states }) => sum + states.length, 0)
  const counts = { messages: units.length, calls }
  return { events: units.flatMap(({ events }) => events), mended, guessed, failed, counts }
}

/** The messages of one old thread in their order, before they get ids. */
export function* readOldMessages(
  messages: readonly unknown[],
  options: ListOptions,
  report: Report,
): PausableWork<OldThread> {
  const values: Json[] = []
  const tooWide = new Set<number>()
  for (const [index, message] of messages.entries()) {
    const cut = () => report.mend(index, 'It is nested too deep: a part was cut off.')
    const value = yield* toPlainJson(message, cut)
    const known = isJsonObject(value) ? yield* toKnownMessage(value, cut) : value
    if (known === undefined) {
      report.fail(index, tooManyValues)
      tooWide.add(index)
    }
    values.push(known ?? null)
    yield
  }
  const thread = yield* readMessages(values, options, report, tooWide)
  const kept: PlacedMessage[] = []
  for (const placed of thread.messages) {
    yield
    const { message, index } = placed
    // Lists in it were counted as if they were of calls, one entry after the other, but it is one value of its message.
    if (yield* isWideValue(message.metadata)) report.fail(index, tooManyValues)
    else kept.push(placed)
  }
  return { ...thread, messages: kept }
}

/** The messages under the names that the readers expect, to find their order; null for what is not one. */
export function* toKnownMessages(
  messages: readonly unknown[],
): PausableWork<readonly (JsonObject | null)[]> {
  const known: (JsonObject | null)[] = []
  for (const message of messages) {
    yield
    known.push(isJsonObject(message) ? ((yield* toKnownMessage(message, () => {})) ?? null) : null)
  }
  return known
}

/** Under the names that the readers expect, with its columns checked, and those of a message that was inside it. */
function* toKnownMessage(value: JsonObject, cut: () => void): PausableWork<JsonObject | undefined> {
  const checked = yield* checkColumns(value, cut)
  if (checked === undefined) return undefined
  const known = toKnownNames(checked)
  return known === checked ? known : yield* checkColumns(known, cut)
}

/** So many values are converted within a millisecond. */
const atOnce: JsonWidth = { values: 1_000, keys: 1_000 }

/**
 * The message as `JSON.stringify` would keep it. Data from a file is JSON already; a program may pass dates,
 * holes and `undefined`. Levels deeper than the limit are cut off, and `onCut` is called. Pauses between the items of
 * whatever has many values inside, at any level.
 */
function* toPlainJson(message: unknown, onCut: () => void, depth = 0): PausableWork<Json> {
  if (!isWide(message) || depth >= deepestValue) return convert(message, depth, onCut) ?? null
  const entries: (readonly [string, Json])[] = []
  const items: Json[] = []
  // Of a list by its iterator, because a hole is an item too.
  for (const [key, item] of Array.isArray(message) ? message.entries() : Object.entries(message)) {
    yield
    const json = isWide(item)
      ? yield* toPlainJson(item, onCut, depth + 1)
      : convert(item, depth + 1, onCut)
    if (typeof key === 'number') items.push(json ?? null)
    else if (json !== undefined) entries.push([key, json])
  }
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Array.isArray(message) ? items : Object.fromEntries(entries)
}

const isWide = (value: unknown): value is object => isTooWide(value, atOnce)

function convert(value: unknown, depth: number, onCut: () => void): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      // JSON has neither minus zero nor NaN and the infinities.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : convertContainer(value, depth, onCut)
    default:
      return undefined
  }
}

function convertContainer(value: object, depth: number, onCut: () => void): Json {
  if (depth >= deepestValue) {
    onCut()
    return null
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : value.toISOString()
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item) => convert(item, depth + 1, onCut) ?? null)
  }
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): readonly (readonly [string, Json])[] => {
      const json = convert(item, depth + 1, onCut)
      return json === undefined ? [] : [[key, json]]
    }),
  )
}

/** The fields that are a list or an object wherever they are read. */
const columnNames = [
  ...['parts', 'metadata', 'annotations', 'toolInvocations', 'drafts', 'replies', 'steering'],
  ...[...callLists, ...usedLists, ...fileLists],
]
const metadataNames = ['parts', ...usedLists]

/**
 * The message with its columns decoded for all who read them. JSON in a text has the same bounds as the message around it:
 * what is too deep is cut off, and `onCut` is called. `undefined`: it has too many values to be read (CL6a, CL6b).
 */
export function* checkColumns(
  message: JsonObject,
  onCut: () => void,
): PausableWork<JsonObject | undefined> {
  const checked = yield* checkFields(yield* checkContent(message, onCut), columnNames, onCut)
  const metadata = checked === undefined ? undefined : columnOf(checked, 'metadata')
  if (checked === undefined || !isJsonObject(metadata)) return checked
  const inside = yield* checkFields(metadata, metadataNames, onCut)
  if (inside === undefined) return undefined
  return inside === metadata ? checked : { ...checked, metadata: inside }
}

/** Content that is too deep or too wide stays the text that it is, unless it contains the message itself. */
function* checkContent(message: JsonObject, onCut: () => void): PausableWork<JsonObject> {
  const found = yield* decodeInSteps(message, 'content')
  if (found?.kind !== 'too-deep') return message
  const content = yield* cutColumn(message, 'content')
  if (!isMastraContent(content)) return message
  onCut()
  return { ...message, content }
}

function* checkFields(
  object: JsonObject,
  names: readonly string[],
  onCut: () => void,
): PausableWork<JsonObject | undefined> {
  const cut: Record<string, Json> = {}
  for (const name of names) {
    const found = yield* decodeInSteps(object, name)
    if (found?.kind === 'too-wide') return undefined
    if (found?.kind !== 'too-deep') continue
    const value = yield* cutColumn(object, name)
    if (value === undefined) continue
    cut[name] = value
    onCut()
  }
  return Object.keys(cut).length === 0 ? object : { ...object, ...cut }
}

function* cutColumn(object: JsonObject, name: string): PausableWork<Json | undefined> {
  const text = object[name]
  if (typeof text !== 'string') return undefined
  const found = yield* decodeColumnText(yield* cutDeepText(text))
  return found.kind === 'value' ? found.value : undefined
}
