import { isJsonObject, type Json } from '../core/json.ts'
import { createPacer } from '../store/pacer.ts'
import { parseStoredJson } from '../store/stored-output.ts'
import type { ImportItem } from './import-item.ts'
import { hasTooManyKeys, tooLong, tooManyKeys } from './json-reader.ts'
import { readPage, readThread, type SourceCount, toMessage } from './read-document.ts'
import { readEnvelope } from './thread-fields.ts'

/**
 * JSONL: one thread, one message, or one page of messages, per line. A line that cannot be read costs only
 * itself.
 */
export async function* readLines(
  pieces: AsyncIterable<string>,
  count: SourceCount,
  { firstLine = 1, mostChars = Number.POSITIVE_INFINITY } = {},
): AsyncGenerator<ImportItem> {
  const pace = createPacer()
  let number = firstLine
  for await (const line of splitLines(pieces, mostChars)) {
    const where = `line ${number}`
    if (line === null) yield { kind: 'unreadable', where, why: tooLong(mostChars) }
    else if (await hasTooManyKeys(line, pace)) {
      yield { kind: 'unreadable', where, why: tooManyKeys }
    } else if (line.trim() !== '') yield* readLine(parseStoredJson(line), where, count)
    number++
  }
}

export function* readLine(
  value: Json | undefined,
  where: string,
  count: SourceCount,
): Generator<ImportItem> {
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
  } else {
    const envelope = readEnvelope(value)
    if (envelope !== undefined) yield* readPage(envelope, count, where)
    else if (Array.isArray(value.messages)) yield* readThread(value, where)
    else yield* toMessage(value, where)
  }
}

/** Null: a line that is longer than `mostChars`, and was skipped. */
async function* splitLines(
  pieces: AsyncIterable<string>,
  mostChars: number,
): AsyncGenerator<string | null> {
  let left: string[] = []
  let chars = 0
  const add = (piece: string) => {
    chars += piece.length
    if (chars <= mostChars) left.push(piece)
  }
  const take = (): string | null => {
    const line = chars > mostChars ? null : left.join('')
    left = []
    chars = 0
    return line
  }
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      add(piece.slice(from, end))
      yield take()
      from = end + 1
    }
    if (from < piece.length) add(piece.slice(from))
  }
  if (chars > 0) yield take()
}
