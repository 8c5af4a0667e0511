export interface ServerEvent {
  readonly id: string | undefined
  /** Its name, where it is not a message like all others. */
  readonly event: string | undefined
  readonly data: string
}

/** Server-sent events from a response. Over `fetch`, so that a request can carry headers of its own. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  /** Called with every piece that comes, the comments that keep a connection alive too. */
  onHeard: () => void = () => {},
): AsyncGenerator<ServerEvent, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader()
  // Pieces of the line that has not ended, and the lines of the event that has not: each is looked at once,
  // so that a large frame in many pieces takes time in proportion to its length.
  let pieces: string[] = []
  let lines: string[] = []
  try {
    while (true) {
      const { done, value } = (await reader.read()) as ReadableStreamReadResult<string>
      if (done) return
      onHeard()
      const [first = '', ...others] = value.split('\n')
      pieces.push(first)
      for (const next of others) {
        const line = pieces.join('').replace(/\r$/, '')
        pieces = [next]
        if (line !== '') {
          lines.push(line)
          continue
        }
        const event = parseEvent(lines)
        lines = []
        if (event !== undefined) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parseEvent(lines: readonly string[]): ServerEvent | undefined {
  let id: string | undefined
  let event: string | undefined
  const data: string[] = []
  for (const line of lines) {
    if (line.startsWith('id:')) id = line.slice(3).trim()
    else if (line.startsWith('event:')) event = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') }
}
