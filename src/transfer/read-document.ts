import { HoldfastError } from '../core/holdfast-error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { parseStoredJson } from '../store/stored-output.ts'
import type { ImportItem } from './import-item.ts'
import { JsonFault, type JsonReader } from './json-reader.ts'
import { readThreadFields, threadOf } from './thread-fields.ts'

/**
 * One JSON document: `{threads: […]}`, one thread, a list of threads, or a list of messages, which is
 * one thread. Lists are walked, never taken whole. A document that breaks off gives what stood before
 * and returns false.
 */
export async function* readDocument(reader: JsonReader): AsyncGenerator<ImportItem, boolean> {
  let where = ''
  let isEmpty = true
  try {
    for await (const item of readRoot(reader)) {
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

async function* readRoot(reader: JsonReader): AsyncGenerator<ImportItem> {
  const first = await reader.peek()
  if (first === '[') {
    yield* readList(reader)
    return
  }
  if (first !== '{') {
    throw new HoldfastError('bad-request', 'This is neither a JSON object nor a list.')
  }
  let has: 'threads' | 'messages' | undefined
  const rest = new Map<string, Json>()
  for await (const field of readFields(reader, ['threads', 'messages'])) {
    if ('value' in field) rest.set(field.name, field.value)
    else if (field.name === 'threads') {
      has = 'threads'
      for await (const index of readElements(reader)) yield* readElement(reader, index, 'thread')
    } else {
      has ??= 'messages'
      yield* readMessages(reader, single, '', rest)
    }
  }
  if (has === 'messages') yield toThread(single, '', rest)
  if (has !== undefined) return
  if (!isMessage(rest)) {
    throw new HoldfastError('bad-request', 'There are neither "threads" nor "messages" in it.')
  }
  yield* toMessage(toObject(rest), 'messages[0]')
}

/** The one thread of a source that has no list of threads. */
const single = 'thread'

const toThread = (key: string, where: string, fields: ReadonlyMap<string, Json>): ImportItem => ({
  kind: 'thread',
  key,
  where,
  fields: readThreadFields(toObject(fields)),
  isComplete: true,
})

async function* readList(reader: JsonReader): AsyncGenerator<ImportItem> {
  for await (const index of readElements(reader)) yield* readElement(reader, index, 'either')
}

/** A thread, or, in a bare list, a message: an object tells only by its fields which of them it is. */
async function* readElement(
  reader: JsonReader,
  index: number,
  kind: 'thread' | 'either',
): AsyncGenerator<ImportItem> {
  const key = `threads[${index}]`
  const first = await reader.peek()
  if (first === '[' && kind === 'either') {
    yield* readMessages(reader, key, key)
    yield { kind: 'thread-ended', key }
    return
  }
  if (first !== '{') {
    const place = kind === 'thread' ? key : `messages[${index}]`
    await reader.readText()
    yield { kind: 'unreadable', where: place, why: 'It is not an object.' }
    return
  }
  const fields = new Map<string, Json>()
  let hasMessages = false
  for await (const field of readFields(reader, ['messages'])) {
    if ('value' in field) fields.set(field.name, field.value)
    else {
      hasMessages = true
      yield* readMessages(reader, key, key, fields)
    }
  }
  if (!hasMessages && kind === 'either') {
    yield* toMessage(toObject(fields), `messages[${index}]`)
    return
  }
  if (fields.has('messages')) {
    yield { kind: 'unreadable', where: `${key}.messages`, why: 'It is not a list.' }
  }
  yield toThread(key, key, fields)
  yield { kind: 'thread-ended', key }
}

/** What is known of the thread goes first; a bare list has nothing of the kind, now or later. */
async function* readMessages(
  reader: JsonReader,
  key: string,
  where: string,
  fields?: ReadonlyMap<string, Json>,
): AsyncGenerator<ImportItem> {
  const known = readThreadFields(toObject(fields ?? new Map()))
  const isComplete = fields === undefined || known.id !== undefined
  yield { kind: 'thread', key, where, fields: known, isComplete }
  for await (const index of readElements(reader)) {
    const place = `${where === '' ? '' : `${where}.`}messages[${index}]`
    const value = parseStoredJson(await reader.readText())
    yield value === undefined
      ? { kind: 'unreadable', where: place, why: 'It is not JSON.' }
      : { kind: 'message', key, where: place, value }
  }
}

export function* toMessage(value: JsonObject, where: string): Generator<ImportItem> {
  const id = threadOf(value)
  const key = id === undefined ? single : `id:${id}`
  const fields = id === undefined ? {} : { id }
  yield { kind: 'thread', key, where, fields, isComplete: true }
  yield { kind: 'message', key, where, value }
}

type Field =
  | { readonly name: string; readonly value: Json }
  | { readonly name: string; readonly isList: true }

/** The fields of an object. A list under one of these names is left for the caller to walk. */
async function* readFields(reader: JsonReader, walked: readonly string[]): AsyncGenerator<Field> {
  await reader.expect('{')
  if (await reader.take('}')) return
  do {
    if ((await reader.peek()) !== '"') throw await reader.fault('a name is missing')
    const name = parseStoredJson(await reader.readText())
    await reader.expect(':')
    if (typeof name !== 'string') throw await reader.fault('a name is not a string')
    if (walked.includes(name) && (await reader.peek()) === '[') yield { name, isList: true }
    else yield { name, value: parseStoredJson(await reader.readText()) ?? null }
  } while (await reader.take(','))
  await reader.expect('}')
}

/** The caller takes each element before it asks for the next. */
async function* readElements(reader: JsonReader): AsyncGenerator<number> {
  await reader.expect('[')
  if (await reader.take(']')) return
  let index = 0
  do yield index++
  while (await reader.take(','))
  await reader.expect(']')
}

function toObject(fields: ReadonlyMap<string, Json>): JsonObject {
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Object.fromEntries(fields)
}

const isMessage = (fields: ReadonlyMap<string, Json>): boolean =>
  fields.has('role') || fields.has('entity') || threadOf(toObject(fields)) !== undefined
