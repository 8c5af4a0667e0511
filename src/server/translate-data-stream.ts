import { readCallNote } from '../import/old-call.ts'
import {
  createDataStreamReader,
  type DataStreamReaderOptions,
} from '../protocol/data-stream/read-data-stream.ts'
import { createLineSplitter } from '../protocol/lines.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
import { checkEvent, checkEventChars, mostEventChars } from './check-event.ts'
import { expandText } from './expand-text.ts'

/** The options of `translateDataStream`. */
export type TranslateOptions = Pick<DataStreamReaderOptions, 'approvals' | 'unfinished'>

/** The stream of a backend of AI SDK 3 or 4 as the chunks that clients of version 5 and later read (RS4). */
export function translateDataStream(
  stream: ReadableStream<Uint8Array>,
  options: TranslateOptions = {},
): ReadableStream<StreamChunk> {
  return translateLines(stream, mostEventChars, options)
}

/** The same; it fails at a line of more than `mostChars`. */
export function translateLines(
  stream: ReadableStream<Uint8Array>,
  mostChars: number,
  options: TranslateOptions,
): ReadableStream<StreamChunk> {
  const reader = createDataStreamReader({ ...options, readCallNote })
  const lines = createLineSplitter()
  const toChunks = async function* (found: readonly string[]) {
    for (const line of found) {
      await checkEvent(line.slice(line.indexOf(':') + 1), 'a line', mostChars)
      yield* reader.read(line)
    }
  }
  /** What was read since the last line: it is buffered until the line ends, which it may never. */
  let chars = 0
  return expandText<StreamChunk>(
    stream,
    async function* (text) {
      const found = lines.push(text)
      chars = found.length > 0 ? 0 : chars + text.length
      checkEventChars(chars, 'a line', mostChars)
      yield* toChunks(found)
    },
    async function* () {
      yield* toChunks(lines.end())
      yield* reader.end()
    },
  )
}
