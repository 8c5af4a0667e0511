import { createSseDecoder, type SseEvent } from '../protocol/sse.ts'

/** Server-sent events from a response. Over `fetch`, so that a request can carry headers of its own. */
export function readSse(
  body: ReadableStream<Uint8Array>,
  /** Called with every piece that comes, the comments that keep a connection alive too. */
  onHeard: () => void = () => {},
): AsyncGenerator<SseEvent, void> {
  // Taken at once: Node closes the body of a response that is collected before anybody reads it.
  const texts = body.pipeThrough(new TextDecoderStream() as never)
  return readEvents(texts.getReader() as ReadableStreamDefaultReader<string>, onHeard)
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<string>,
  onHeard: () => void,
): AsyncGenerator<SseEvent, void> {
  const decoder = createSseDecoder()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      onHeard()
      for (const item of decoder.push(value)) if (item.type === 'event') yield item
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
