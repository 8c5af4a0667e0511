import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Handler } from './create-handler.ts'
import { refuseSocket } from './refuse-socket.ts'

export interface ListenOptions {
  readonly port: number
  readonly host: string
  /** A client that does not read for this long is cut off: what waits for it is not kept for ever. */
  readonly stallMs?: number
}

export interface Listening {
  readonly url: string
  /** Takes no more requests, ends open streams so that their clients resume elsewhere, and waits. */
  close(): Promise<void>
}

/** Serves a web-standard handler on Node's own HTTP server. */
export async function listen(handler: Handler, options: ListenOptions): Promise<Listening> {
  const streams = new Set<ServerResponse>()
  // A request without a host is answered here, in our words, not by Node.
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
    streams.add(outgoing)
    outgoing.on('close', () => streams.delete(outgoing))
    void serve(handler, incoming, outgoing, options.stallMs ?? 30_000)
  })
  server.on('clientError', refuseSocket)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const stream of streams) if (stream.headersSent) stream.destroy()
        server.closeIdleConnections()
      }),
  }
}

async function serve(
  handler: Handler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  stallMs: number,
): Promise<void> {
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  try {
    const request = toRequest(incoming, gone.signal)
    const response =
      request === null
        ? Response.json(
            { error: { code: 'bad-request', message: 'Bad address.' } },
            { status: 400 },
          )
        : await handler(request)
    outgoing.writeHead(response.status, [...response.headers].flat())
    // An answer may come before the whole question was read: the rest is let go.
    incoming.resume()
    if (response.body === null) outgoing.end()
    else await send(response.body, outgoing, gone.signal, stallMs)
  } catch {
    // The handler answers every failure itself; what is left is a connection that is gone.
    outgoing.destroy()
  }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | null {
  const { method = 'GET', headers } = incoming
  const address = addressOf(incoming)
  if (address === null) return null
  // What a web-standard request cannot have.
  if (['CONNECT', 'TRACE', 'TRACK'].includes(method)) return null
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(address, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
    signal,
    ...(hasBody ? { body: toBody(incoming), duplex: 'half' } : {}),
  })
}

/**
 * Put together as text: resolved against a base, the path `//name/…` would be an address at another host,
 * and the check of where a request goes (HT4) would be made on a name of the sender's choice.
 */
function addressOf({ headers, httpVersion, url = '' }: IncomingMessage): URL | null {
  const { host = httpVersion === '1.0' ? 'localhost' : '' } = headers
  const isName = /^[^\s/\\?#@]+$/.test(host)
  return isName && url.startsWith('/') ? URL.parse(`http://${host}${url}`) : null
}

/**
 * Nothing is read before somebody asks, and whoever has enough lets the rest go by: Node's own
 * adapter closes the connection then, and the answer could not go out on it.
 */
function toBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await nextPiece(incoming)
        if (piece === null) controller.close()
        else controller.enqueue(piece)
      },
      cancel() {
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}

async function nextPiece(incoming: IncomingMessage): Promise<Uint8Array | null> {
  while (true) {
    const piece = incoming.read() as Uint8Array | null
    if (piece !== null) return piece
    if (incoming.readableEnded) return null
    if (incoming.destroyed) throw new Error('The client has gone.')
    await new Promise<void>((resolve) => {
      const events = ['readable', 'end', 'close', 'error'] as const
      const wake = () => {
        for (const event of events) incoming.off(event, wake)
        resolve()
      }
      for (const event of events) incoming.on(event, wake)
    })
  }
}

async function send(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
  stallMs: number,
): Promise<void> {
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => undefined)
  gone.addEventListener('abort', leave)
  if (gone.aborted) leave()
  while (!gone.aborted) {
    const { done, value } = await reader.read()
    if (done) break
    if (!outgoing.write(value)) await drained(outgoing, gone, stallMs)
  }
  outgoing.end()
}

function drained(outgoing: ServerResponse, gone: AbortSignal, stallMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => outgoing.destroy(), stallMs)
    const done = () => {
      clearTimeout(stalled)
      outgoing.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    outgoing.on('drain', done)
    gone.addEventListener('abort', done)
  })
}
