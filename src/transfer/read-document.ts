import { HoldfastError } from '../core/holdfast-error.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../core/json.ts'
import { toKnownNames } from '../import/old-shapes.ts'
import type { ImportItem } from './import-item.ts'
import { JsonFault, type JsonReader } from './json-reader.ts'
import { type PageEnvelope, readEnvelope, readThreadFields, threadIdOf } from './thread-fields.ts'

/** Counters over all documents of a source. */
export interface SourceCount {
  pages: number
}

/**
 * Reads one JSON document: `{threads: […]}`, one thread, a list of threads, a list of messages, which is one
 * thread, or a page of such a list in its envelope. Lists are walked, never read whole. Of a document that
 * breaks off, the items before the break are yielded, and false is returned.
 */
export async function* readDocument(
  reader: JsonReader,
  count: SourceCount,
): AsyncGenerator<ImportItem, boolean> {
  let where = ''
  let isEmpty = true
  try {
    for await (const item of readRoot(reader, count)) {
      isEmpty = false
      if ('where' in item) where = item.where
      yield item
    }
    return true
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    if (isEmpty) throw new HoldfastError('bad-request', `This is not JSON: ${error.message}.`)
    yield { kind: 'unreadable', where: `after ${where}`, why: `Not JSON: ${error.message}.` }
    return false
  }
}

async function* readRoot(reader: JsonReader, count: SourceCount): AsyncGenerator<ImportItem> {
  const first = await reader.peek()
  if (first === '[') {
    for await (const index of readElements(reader)) {
      yield* readElement(reader, `[${index}]`, 'either', count)
    }
    return
  }
  if (first !== '{') {
    throw new HoldfastError('bad-request', 'This is neither a JSON object nor a list.')
  }
  let has: 'threads' | 'messages' | 'results' | undefined
  const rest = new Map<string, Json>()
  for await (const field of readFields(reader, ['threads', 'results', ...messageLists])) {
    if ('value' in field) rest.set(field.name, field.value)
    else if ('isTooLong' in field) {
      yield { kind: 'unreadable', where: field.name, why: reader.skipped }
    } else if (field.name === 'threads') {
      has = 'threads'
      for await (const index of readElements(reader)) {
        yield* readElement(reader, `[${index}]`, 'thread', count)
      }
    } else if (field.name === 'results') {
      has ??= 'results'
      const page = ++count.pages
      for await (const index of readElements(reader)) {
        yield* readElement(reader, `[${index}]`, 'result', count, page)
      }
    } else {
      has ??= 'messages'
      yield* readMessages(reader, single, '', rest, field.name)
    }
  }
  if (has === 'messages' || has === 'results') {
    const { id, ...fields } = readThreadFields(toObject(rest))
    // The id of a page is not the id of its thread.
    const own = has === 'results' ? threadIdOf(toObject(rest)) : id
    const all = own === undefined ? fields : { ...fields, id: own }
    yield { kind: 'thread', key: single, where: '', fields: all, isComplete: true }
  }
  if (has !== undefined) return
  yield* readObject(toObject(rest), 'messages[0]', count)
}

/** An object that was read whole: a message, or a page in its envelope. */
function* readObject(value: JsonObject, where: string, count: SourceCount): Generator<ImportItem> {
  const envelope = readEnvelope(value)
  if (envelope !== undefined) {
    yield* readPage(envelope, count)
    return
  }
  if (!isMessage(value)) {
    throw new HoldfastError('bad-request', 'There are neither "threads" nor "messages" in it.')
  }
  yield* toMessage(value, where)
}

/** The messages of a page; one without a thread id belongs to the one thread of the source. */
export function* readPage(
  { list, name, fields }: PageEnvelope,
  count: SourceCount,
  before = '',
): Generator<ImportItem> {
  const page = ++count.pages
  const key = fields.id === undefined ? single : `id:${fields.id}`
  yield { kind: 'thread', key, where: before, fields, isComplete: true }
  for (const [index, value] of list.entries()) {
    const where = `${before}${before === '' ? '' : ', '}${name}[${index}]`
    if (!isJsonObject(value)) yield { kind: 'unreadable', where, why: 'It is not an object.' }
    else if (Array.isArray(value.messages)) yield* readThread(value, where)
    else yield* toMessage(value, where, page, key)
  }
}

/** A thread that was read whole. */
export function* readThread(
  thread: Readonly<Record<string, Json>>,
  where: string,
): Generator<ImportItem> {
  const fields = readThreadFields(thread)
  yield { kind: 'thread', key: where, where, fields, isComplete: true }
  for (const name of messageLists) {
    const messages = Array.isArray(thread[name]) ? (thread[name] as readonly Json[]) : []
    for (const [index, value] of messages.entries()) {
      const place = `${where}, ${name}[${index}]`
      yield { kind: 'message', key: where, where: place, value, ...ofList(name) }
    }
  }
  yield { kind: 'thread-ended', key: where }
}

/** What is shown of a thread, and what an export has beside it: versions (VR1), and what waits (IN2). */
const messageLists = ['messages', 'hiddenMessages', 'queuedMessages'] as const

function ofList(
  name: string,
): Pick<Extract<ImportItem, { kind: 'message' }>, 'isHidden' | 'isQueued'> {
  if (name === 'hiddenMessages') return { isHidden: true }
  return name === 'queuedMessages' ? { isQueued: true } : {}
}

/** The one thread of a source that has no list of threads. */
const single = 'thread'

/** A thread, or, in a bare list, a message: only the fields of an object show which it is. */
async function* readElement(
  reader: JsonReader,
  place: string,
  kind: 'thread' | 'either' | 'result',
  count: SourceCount,
  page?: number,
): AsyncGenerator<ImportItem> {
  const key = kind === 'result' ? `results${place}` : `threads${place}`
  const where = kind === 'result' ? key : `messages${place}`
  const first = await reader.peek()
  if (first === '[' && kind === 'either') {
    yield* readMessages(reader, key, key)
    yield { kind: 'thread-ended', key }
    return
  }
  if (first !== '{') {
    await reader.readText()
    const why = 'It is not an object.'
    yield { kind: 'unreadable', where: kind === 'thread' ? key : where, why }
    return
  }
  const fields = new Map<string, Json>()
  let hasMessages = false
  let longField: string | undefined
  for await (const field of readFields(reader, messageLists)) {
    if ('value' in field) fields.set(field.name, field.value)
    else if ('isTooLong' in field) longField ??= field.name
    else {
      hasMessages = true
      yield* readMessages(reader, key, key, fields, field.name)
    }
  }
  if (longField !== undefined) {
    const place = hasMessages || kind === 'thread' ? `${key}.${longField}` : where
    yield { kind: 'unreadable', where: place, why: reader.skipped }
    // A message that lacks one of its fields would be a different message.
    if (!hasMessages && kind !== 'thread') return
  }
  if (!hasMessages && kind !== 'thread') {
    const value = toObject(fields)
    const envelope = kind === 'either' ? readEnvelope(value) : undefined
    if (envelope === undefined) yield* toMessage(value, where, page)
    else yield* readPage(envelope, count, place)
    return
  }
  if (fields.has('messages')) {
    yield { kind: 'unreadable', where: `${key}.messages`, why: 'It is not a list.' }
  }
  const known = readThreadFields(toObject(fields))
  yield { kind: 'thread', key, where: key, fields: known, isComplete: true }
  yield { kind: 'thread-ended', key }
}

/** The known fields of the thread come first; a bare list has none, now or later. */
async function* readMessages(
  reader: JsonReader,
  key: string,
  where: string,
  fields?: ReadonlyMap<string, Json>,
  name = 'messages',
): AsyncGenerator<ImportItem> {
  const known = readThreadFields(toObject(fields ?? new Map()))
  const isComplete = fields === undefined || known.id !== undefined
  yield { kind: 'thread', key, where, fields: known, isComplete }
  for await (const index of readElements(reader)) {
    const place = `${where === '' ? '' : `${where}.`}${name}[${index}]`
    const read = await reader.readValue()
    const value = read?.value
    const why = read === null ? reader.skipped : 'It is not JSON.'
    yield value === undefined
      ? { kind: 'unreadable', where: place, why }
      : { kind: 'message', key, where: place, value, ...ofList(name) }
  }
}

export function* toMessage(
  value: JsonObject,
  where: string,
  page?: number,
  ofPage: string = single,
): Generator<ImportItem> {
  const id = threadIdOf(value)
  const key = id === undefined ? ofPage : `id:${id}`
  const fields = id === undefined ? {} : { id }
  yield { kind: 'thread', key, where, fields, isComplete: true }
  yield { kind: 'message', key, where, value, ...(page === undefined ? {} : { page }) }
}

type Field =
  | { readonly name: string; readonly value: Json }
  | { readonly name: string; readonly isList: true }
  /** Longer than one value may be, and skipped. */
  | { readonly name: string; readonly isTooLong: true }

/** The fields of an object. A list under one of these names is left for the caller to walk. */
async function* readFields(reader: JsonReader, walked: readonly string[]): AsyncGenerator<Field> {
  await reader.expect('{')
  if (await reader.consume('}')) return
  do {
    if ((await reader.peek()) !== '"') throw await reader.fault('a name is missing')
    const name = parseJson((await reader.readText()) ?? '""')
    await reader.expect(':')
    if (typeof name !== 'string') throw await reader.fault('a name is not a string')
    if (walked.includes(name) && (await reader.peek()) === '[') yield { name, isList: true }
    else {
      const read = await reader.readValue()
      yield read === null ? { name, isTooLong: true } : { name, value: read.value ?? null }
    }
  } while (await reader.consume(','))
  await reader.expect('}')
}

/** The caller must read each element before it requests the next. */
async function* readElements(reader: JsonReader): AsyncGenerator<number> {
  await reader.expect('[')
  if (await reader.consume(']')) return
  let index = 0
  do yield index++
  while (await reader.consume(','))
  await reader.expect(']')
}

function toObject(fields: ReadonlyMap<string, Json>): JsonObject {
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Object.fromEntries(fields)
}

const isMessage = (value: JsonObject): boolean =>
  isRoleOrRow(toKnownNames(value)) || threadIdOf(value) !== undefined

const isRoleOrRow = (value: JsonObject): boolean => 'role' in value || 'entity' in value
