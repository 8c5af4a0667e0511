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
  let rest = ''
  try {
    while (true) {
      const { done, value } = (await reader.read()) as ReadableStreamReadResult<string>
      if (done) return
      onHeard()
      rest += value
      const blocks = rest.split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event !== undefined) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  let id: string | undefined
  let event: string | undefined
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('id:')) id = line.slice(3).trim()
    else if (line.startsWith('event:')) event = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') }
}
