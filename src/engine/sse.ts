/** Each piece is one or more whole events; the signal tells that nobody reads any more. */
export type StreamSource = (signal: AbortSignal) => AsyncGenerator<string, void>

export interface StreamOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Comments keep idle connections open; every client of server-sent events ignores them. */
  readonly keepAlive?: { readonly everyMs: number }
  /** Says something between the pieces of the source; each is whole. What it returns ends that. */
  readonly aside?: (say: (text: string) => void) => () => void
  /** Called once, however the stream ends, and also if nobody ever read it. */
  readonly onClose: () => void
}

const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export function toSseResponse(
  open: StreamSource,
  options: Omit<StreamOptions, 'keepAlive'> & { readonly keepAliveMs: number },
): Response {
  const { keepAliveMs, headers, ...rest } = options
  return toStreamResponse(open, {
    ...rest,
    headers: { ...sseHeaders, ...headers },
    keepAlive: { everyMs: keepAliveMs },
  })
}

/** Pulled by whoever reads: one that does not read is not buffered for. */
export function toStreamResponse(open: StreamSource, options: StreamOptions): Response {
  const { keepAlive, onClose } = options
  const encoder = new TextEncoder()
  // A source that waits for the next commit is woken by this, not by being closed.
  const reader = new AbortController()
  const source = open(reader.signal)
  let timer: ReturnType<typeof setInterval> | undefined
  let endAside = () => {}
  const close = () => {
    clearInterval(timer)
    endAside()
    onClose()
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const say = (text: string) => controller.enqueue(encoder.encode(text))
      if (options.aside !== undefined) endAside = options.aside(say)
      if (keepAlive === undefined) return
      // Sent at once, so that a client knows that it is connected before anything happens.
      controller.enqueue(encoder.encode(': open\n\n'))
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) <= 0) return
        controller.enqueue(encoder.encode(': keep-alive\n\n'))
      }, keepAlive.everyMs)
    },
    async pull(controller) {
      try {
        const next = await source.next()
        if (next.done !== true) return controller.enqueue(encoder.encode(next.value))
        close()
        controller.close()
      } catch (error) {
        close()
        controller.error(error)
      }
    },
    async cancel() {
      close()
      reader.abort()
      await source.return()
    },
  })
  return new Response(body, { headers: options.headers })
}

export const sseData = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
