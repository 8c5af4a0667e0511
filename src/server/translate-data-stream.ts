import { readCallNote } from '../import/call-note.ts'
import {
  createDataStreamReader,
  type DataStreamReaderOptions,
} from '../protocol/data-stream/read-data-stream.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'

export type TranslateOptions = Pick<DataStreamReaderOptions, 'approvals' | 'unfinished'>

/** The stream of a backend of AI SDK 3 or 4 as the chunks that clients of version 5 and later read (RS4). */
export function translateDataStream(
  stream: ReadableStream<Uint8Array>,
  options: TranslateOptions = {},
): ReadableStream<StreamChunk> {
  const reader = createDataStreamReader({ ...options, readCallNote })
  return linesOf(stream).pipeThrough(
    new TransformStream<string, StreamChunk>({
      transform(line, controller) {
        for (const chunk of reader.read(line)) controller.enqueue(chunk)
      },
      flush(controller) {
        for (const chunk of reader.end()) controller.enqueue(chunk)
      },
    }),
  )
}

/** Whole lines, however the bytes were cut. */
export function linesOf(stream: ReadableStream<Uint8Array>): ReadableStream<string> {
  const decoder = new TextDecoder()
  let rest = ''
  return stream.pipeThrough(
    new TransformStream<Uint8Array, string>({
      transform(bytes, controller) {
        rest += decoder.decode(bytes, { stream: true })
        const lines = rest.split(/\r?\n/)
        rest = lines.pop() ?? ''
        for (const line of lines) controller.enqueue(line)
      },
      flush(controller) {
        rest += decoder.decode()
        if (rest !== '') controller.enqueue(rest)
      },
    }),
  )
}
