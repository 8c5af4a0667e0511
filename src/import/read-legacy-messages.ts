import type { NewEvent } from '../core/event.ts'
import { deepestValue } from '../core/json-depth.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { noCall, type OldThread } from './entity-turns.ts'
import { createIdKeeper, createMessageNamer, type IsTaken, toUnits } from './import-units.ts'
import { createReport, type Failed, type Mended, type Report } from './old-message.ts'
import { toKnownNames } from './old-names.ts'
import { type ListOptions, readMessages } from './read-messages.ts'
import { mapInSteps, runToEnd, type PausableWork } from '../core/pausable-work.ts'

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
  for (const [index, message] of messages.entries()) {
    const cut = () => report.mend(index, 'It is nested too deep: a part was cut off.')
    const value = yield* toPlainJson(message, cut)
    values.push(isJsonObject(value) ? toKnownNames(value) : value)
    yield
  }
  return yield* readMessages(values, options, report)
}

/**
 * The message as `JSON.stringify` would keep it. Data from a file is JSON already; a program may pass dates,
 * holes and `undefined`. Levels deeper than the limit are cut off, and `onCut` is called. Pauses between the entries of
 * its lists: those of its parts and calls may be thousands.
 */
function* toPlainJson(message: unknown, onCut: () => void): PausableWork<Json> {
  if (!isPlainObject(message)) return convert(message, 0, onCut) ?? null
  const entries: (readonly [string, Json])[] = []
  for (const [key, value] of Object.entries(message)) {
    const json = Array.isArray(value)
      ? yield* mapInSteps(Array.from<unknown>(value), (item) => convert(item, 2, onCut) ?? null)
      : convert(value, 1, onCut)
    if (json !== undefined) entries.push([key, json])
  }
  return Object.fromEntries(entries)
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

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
