import { createSseDecoder, type SseComment, type SseEvent } from '../../protocol/sse.ts'

/** Reads events and comments as they arrive; ends with the stream. */
export function readSse(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<SseEvent | SseComment, void> {
  // The iterator is acquired at once: Node closes the body of a response that is garbage-collected before it is read.
  return readItems(body.values())
}

async function* readItems(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<SseEvent | SseComment, void> {
  const text = new TextDecoder()
  const decoder = createSseDecoder()
  for await (const bytes of pieces) yield* decoder.push(text.decode(bytes, { stream: true }))
}
