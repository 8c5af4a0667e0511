import { isJsonObject, type Json } from '../core/json.ts'
import { parseStoredJson } from '../store/stored-output.ts'
import type { ImportItem } from './import-item.ts'
import { toMessage } from './read-document.ts'
import { readThreadFields } from './thread-fields.ts'

/** JSONL: one thread, or one message, per line. A line that cannot be read costs only itself. */
export async function* readLines(
  pieces: AsyncIterable<string>,
  firstLine = 1,
): AsyncGenerator<ImportItem> {
  let number = firstLine
  for await (const line of splitLines(pieces)) {
    if (line.trim() !== '') yield* readLine(line, `line ${number}`)
    number++
  }
}

function* readLine(line: string, where: string): Generator<ImportItem> {
  const value = parseStoredJson(line)
  if (Array.isArray(value)) {
    yield* readThread({ messages: value as readonly Json[] }, where)
  } else if (!isJsonObject(value)) {
    const why = value === undefined ? 'It is not JSON.' : 'It is neither an object nor a list.'
    yield { kind: 'unreadable', where, why }
  } else if (Array.isArray(value.threads)) {
    for (const [index, thread] of (value.threads as readonly Json[]).entries()) {
      const place = `${where}, threads[${index}]`
      if (isJsonObject(thread)) yield* readThread(thread, place)
      else yield { kind: 'unreadable', where: place, why: 'It is not an object.' }
    }
  } else if (Array.isArray(value.messages)) {
    yield* readThread(value, where)
  } else {
    yield* toMessage(value, where)
  }
}

function* readThread(thread: Readonly<Record<string, Json>>, where: string): Generator<ImportItem> {
  const fields = readThreadFields(thread)
  yield { kind: 'thread', key: where, where, fields, isComplete: true }
  const messages = Array.isArray(thread.messages) ? (thread.messages as readonly Json[]) : []
  for (const [index, value] of messages.entries()) {
    yield { kind: 'message', key: where, where: `${where}, messages[${index}]`, value }
  }
  yield { kind: 'thread-ended', key: where }
}

async function* splitLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let left: string[] = []
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      left.push(piece.slice(from, end))
      yield left.join('')
      left = []
      from = end + 1
    }
    if (from < piece.length) left.push(piece.slice(from))
  }
  if (left.length > 0) yield left.join('')
}
