import { isJsonObject, type Json } from '../core/json.ts'
import { createPacer, type Pacer } from '../store/pacer.ts'
import { notUtf8, whyNotUtf8 } from './decode-text.ts'
import type { ImportItem } from './import-item.ts'
import { tooLong } from './json-reader.ts'
import { parseSource, tooManyMembers } from './parse-source.ts'
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
  for await (const { line, nth } of splitLines(pieces, mostChars, pace)) {
    const where = `line ${firstLine + nth}`
    if (line === null) yield { kind: 'unreadable', where, why: tooLong(mostChars) }
    else {
      const found = await parseSource(line, mostChars, pace)
      if (found.kind === 'too-wide') yield { kind: 'unreadable', where, why: tooManyInLine }
      else if (found.kind !== 'value' && line.includes(notUtf8))
        yield { kind: 'unreadable', where, why: whyNotUtf8 }
      else yield* readLine(found.kind === 'value' ? found.value : undefined, where, count)
    }
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

/** A line may be a whole thread, of which only this message can be read nowhere. */
const tooManyInLine = `${tooManyMembers} "holdfast import" takes the rest of the line.`

interface SourceLine {
  readonly nth: number
  /** Null: it is longer than `mostChars`, and was skipped. */
  readonly line: string | null
}

/**
 * The lines that are not blank. Pauses between pieces: nobody else would where millions of blank lines follow each other
 * (OP7).
 */
async function* splitLines(
  pieces: AsyncIterable<string>,
  mostChars: number,
  pace: Pacer,
): AsyncGenerator<SourceLine> {
  let left: string[] = []
  let chars = 0
  let nth = 0
  const add = (piece: string) => {
    chars += piece.length
    if (chars <= mostChars) left.push(piece)
  }
  const flush = (): string | null => {
    const line = chars > mostChars ? null : left.join('')
    left = []
    chars = 0
    return line
  }
  for await (const piece of pieces) {
    await pace()
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      add(piece.slice(from, end))
      const line = flush()
      if (line === null || line.trim() !== '') yield { nth, line }
      from = end + 1
      nth++
    }
    if (from < piece.length) add(piece.slice(from))
  }
  const line = flush()
  if (line === null || line.trim() !== '') yield { nth, line }
}
