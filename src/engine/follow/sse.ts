import {
  type ByteStreamOptions,
  createByteStream,
  type StreamSource,
  toReadable,
} from './byte-stream.ts'

export interface StreamOptions extends ByteStreamOptions {
  readonly headers: Readonly<Record<string, string>>
}

const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Comments keep idle connections open; every client of server-sent events ignores them. */
export function toSseResponse(
  open: StreamSource,
  options: Omit<StreamOptions, 'keepAlive' | 'opening'> & { readonly keepAliveMs: number },
): Response {
  const { keepAliveMs, headers, ...rest } = options
  return toStreamResponse(open, {
    ...rest,
    headers: { ...sseHeaders, ...headers },
    // Sent at once, so that a client learns that it is connected before anything happens.
    opening: ': open\n\n',
    keepAlive: { text: ': keep-alive\n\n', everyMs: keepAliveMs },
  })
}

/** The reader pulls: nothing is buffered for a reader that does not read. */
export function toStreamResponse(open: StreamSource, options: StreamOptions): Response {
  const { headers, ...rest } = options
  return new Response(toReadable(createByteStream(open, rest)), { headers })
}

const encoder = new TextEncoder()
const encoded = new WeakMap<readonly object[], Uint8Array>()

/** One event for each item, encoded once for all who are sent the same array (OP7a). */
export function encodeSseData(items: readonly object[]): Uint8Array {
  const known = encoded.get(items)
  if (known !== undefined) return known
  const bytes = encoder.encode(items.map(sseData).join(''))
  encoded.set(items, bytes)
  return bytes
}

export const sseData = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
