import { HoldfastError } from '../core/holdfast-error.ts'
import { isJsonObject } from '../core/json.ts'
import { isWideMessage, tooManyValues } from '../import/message-width.ts'
import { createPacer, runPaced } from '../store/pacer.ts'
import { decodeText } from './decode-text.ts'
import type { ImportItem } from './import-item.ts'
import { JsonFault, JsonReader } from './json-reader.ts'
import { parseSource } from './parse-source.ts'
import { readDocument, type SourceCount } from './read-document.ts'
import { readLine, readLines } from './read-lines.ts'

/** Options of `readImport`. */
export interface ReadOptions {
  /**
   * The most characters of one message, or of one line of JSONL. A longer one, or one in which a single object has more than
   * 51,000 keys, is skipped and reported as unreadable: it would take too much memory, or block the event loop.
   * @default no bound
   */
  readonly messageChars?: number
}

/** Reads the bytes or text of a file or a body, JSON or JSONL, as threads and messages. */
export async function* readImport(
  source: AsyncIterable<Uint8Array | string>,
  options: ReadOptions = {},
): AsyncGenerator<ImportItem> {
  const pace = createPacer()
  for await (const item of readItems(source, options)) {
    if (item.kind === 'message' && (await runPaced(isWideMessage(item.value), pace))) {
      yield { kind: 'unreadable', where: item.where, why: tooManyValues }
    } else yield item
  }
}

async function* readItems(
  source: AsyncIterable<Uint8Array | string>,
  { messageChars: mostChars = Number.POSITIVE_INFINITY }: ReadOptions,
): AsyncGenerator<ImportItem> {
  const pieces = decodeText(source)
  // The decoder of bytes removes the byte order mark; text may still have it.
  const head = (await readHead(pieces)).replace(/^\ufeff/, '')
  if (head.trim() === '') throw new HoldfastError('bad-request', 'There is nothing in it.')
  const all = prepend(head, pieces)
  const count: SourceCount = { pages: 0 }
  if (await looksLikeLines(head)) {
    yield* readLines(all, count, { mostChars })
    return
  }
  const reader = new JsonReader(all, mostChars)
  if (!(yield* readDocument(reader, count))) return
  if ((await reader.peek()) === '') return
  // The first line was too long to be examined whole: the lines after it are the rest of a JSONL file.
  if (reader.line <= 2)
    yield* readLines(reader.rest(), count, { firstLine: reader.line, mostChars })
  else yield* readMore(reader, count)
}

/** Documents of several lines each, one after the other, as in concatenated files. */
async function* readMore(reader: JsonReader, count: SourceCount): AsyncGenerator<ImportItem> {
  try {
    while ((await reader.peek()) !== '') {
      const where = `line ${reader.line}`
      const read = await reader.readValue()
      if (read === null) yield { kind: 'unreadable', where, why: reader.skipped }
      else yield* readLine(read.value, where, count)
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    yield { kind: 'unreadable', where: `line ${reader.line}`, why: `Not JSON: ${error.message}.` }
  }
}

const mostHead = 1_000_000

/** A few lines: enough to distinguish JSON from JSONL. */
async function readHead(pieces: AsyncIterator<string>): Promise<string> {
  let head = ''
  // Counted piece by piece: to count in the whole head after each piece took as long as reading it twenty times.
  let ends = 0
  while (head.length < mostHead && ends < 3) {
    const next = await pieces.next()
    if (next.done === true) break
    head += next.value
    ends += next.value.split('\n', 4).length - 1
  }
  return head
}

/**
 * Two consecutive lines that are each a complete object, without a comma, are never one document; nor is one
 * object with something after it. A broken first line must not hide the lines after it.
 */
async function looksLikeLines(head: string): Promise<boolean> {
  const lines = head.split('\n').filter((line) => line.trim() !== '')
  const pace = createPacer()
  const isWhole = async (line: string) => {
    // Bounded even where the source is not: a line whose objects are not made is a line.
    const found = await parseSource(line, line.length, pace)
    if (found.kind === 'too-wide') return true
    return found.kind === 'value' && (isJsonObject(found.value) || Array.isArray(found.value))
  }
  const [first, second, third] = lines
  if (first === undefined || second === undefined) return false
  if (await isWhole(first)) return true
  return (await isWhole(second)) && (third === undefined || (await isWhole(third)))
}

async function* prepend(head: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head
  yield* pieces
}
