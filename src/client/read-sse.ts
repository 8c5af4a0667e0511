import { createSseDecoder, type SseComment, type SseEvent } from '../protocol/sse.ts'

/** Server-sent events from a response, without its comments. Over `fetch`, so that a request can have headers. */
export const readSse = (
  body: ReadableStream<Uint8Array>,
  /** Called with every chunk that arrives, including keep-alive comments. */
  onReceived: () => void = () => {},
): AsyncGenerator<SseEvent, void> => readItems(body.getReader(), isEvent, onReceived)

/** The same with its comments, in order. */
export const readSseItems = (
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<SseEvent | SseComment, void> => readItems(body.getReader(), isItem, () => {})

const isEvent = (item: SseEvent | SseComment): item is SseEvent => item.type === 'event'
const isItem = (_: SseEvent | SseComment): _ is SseEvent | SseComment => true

/**
 * Takes a reader and not the body: a generator does nothing before its first `next`, and Node closes the body of a
 * response that is garbage-collected while it has no reader.
 */
async function* readItems<Item extends SseEvent | SseComment>(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isWanted: (item: SseEvent | SseComment) => item is Item,
  onReceived: () => void,
): AsyncGenerator<Item, void> {
  const text = new TextDecoder()
  const decoder = createSseDecoder()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      onReceived()
      yield* decoder.push(text.decode(value, { stream: true })).filter(isWanted)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
