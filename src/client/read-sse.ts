import { createSseDecoder, type SseEvent } from '../protocol/sse.ts'

/** Server-sent events from a response. Over `fetch`, so that a request can have headers. */
export function readSse(
  body: ReadableStream<Uint8Array>,
  /** Called with every chunk that arrives, including keep-alive comments. */
  onReceived: () => void = () => {},
): AsyncGenerator<SseEvent, void> {
  // The reader is acquired at once: Node closes the body of a response that is garbage-collected before it is read.
  const texts = body.pipeThrough(new TextDecoderStream() as never)
  return readEvents(texts.getReader() as ReadableStreamDefaultReader<string>, onReceived)
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<string>,
  onReceived: () => void,
): AsyncGenerator<SseEvent, void> {
  const decoder = createSseDecoder()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      onReceived()
      for (const item of decoder.push(value)) if (item.type === 'event') yield item
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
