/** One server-sent event, or a comment between them. */
export interface SseEvent {
  readonly id?: string
  readonly data?: string
  readonly comment?: string
  /** Its name; frames have none. */
  readonly event?: string
}

/** Reads events as they arrive; ends with the stream. */
export function readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent, void> {
  // Taken at once: Node closes the body of a response that is collected before anybody reads it.
  return readEvents(body.values())
}

async function* readEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of pieces) {
    text += decoder.decode(bytes, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parseEvent(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function parseEvent(block: string): SseEvent {
  const event: { id?: string; data?: string; comment?: string; event?: string } = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const value = line.slice(colon + 1).replace(/^ /, '')
    if (colon === 0) event.comment = value
    else if (line.startsWith('id:')) event.id = value
    else if (line.startsWith('event:')) event.event = value
    else if (line.startsWith('data:')) event.data = value
  }
  return event
}
