import { readCallNote } from '../import/old-call.ts'
import {
  createDataStreamReader,
  type DataStreamReaderOptions,
} from '../protocol/data-stream/read-data-stream.ts'
import { createLineSplitter } from '../protocol/lines.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'

/** The options of `translateDataStream`. */
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

/** Whole lines, however the bytes were split. */
function linesOf(stream: ReadableStream<Uint8Array>): ReadableStream<string> {
  const lines = createLineSplitter()
  return stream.pipeThrough(new TextDecoderStream() as never).pipeThrough(
    new TransformStream<string, string>({
      transform(text, controller) {
        for (const line of lines.push(text)) controller.enqueue(line)
      },
      flush(controller) {
        for (const line of lines.end()) controller.enqueue(line)
      },
    }),
  )
}
