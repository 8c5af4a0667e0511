import { createServer, type IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { callObserver } from '../core/call-observer.ts'
import { checkOptions } from '../core/check-options.ts'
import { type ByteStream, byteStreamOf } from '../engine/follow/byte-stream.ts'
import { TurnStreamBroken } from '../engine/follow/turn-stream.ts'
import { ApiError } from '../protocol/api-error.ts'
import { toBasePath } from '../protocol/base-path.ts'
import { checkHandler, checkNodeResponse } from './check-arguments.ts'
import type { Handler } from './create-handler.ts'
import { toErrorResponse } from './http-error.ts'
import { describeListenFault } from './listen-fault.ts'
import type { ListenOptions, NodeListenerOptions } from './listen-options.ts'
import { logToStandardError } from './log-error.ts'
import { listenRules, nodeListenerRules } from './option-rules.ts'
import { rememberMount } from './mount-path.ts'
import { rememberNodeRequest } from './node-request.ts'
import { rememberPeer } from './peer-address.ts'
import { refuseSocket } from './refuse-socket.ts'
import { parseHost } from './request-host.ts'
import { safetyHeaders } from './safety-headers.ts'

/** A server that accepts requests. */
export interface Listening {
  /** Where it listens, with the port that was chosen. */
  readonly url: string
  /**
   * Accepts no more requests, ends open streams so that their clients resume on another server, and waits for other answers
   * for at most two seconds.
   */
  close(): Promise<void>
}

/**
 * Serves a web-standard handler on Node's own HTTP server. Where the port or the address cannot be used, it rejects with an
 * error that has Node's `code` (`EADDRINUSE`) and says what to do.
 */
export async function listen(handler: Handler, options: ListenOptions): Promise<Listening> {
  checkHandler('listen', handler, 'listen(createHandler(holdfast), options)')
  checkOptions('listen', options, listenRules)
  const { port, host, ...serving } = options
  const streams = new Set<ServerResponse>()
  const answer = toNodeListener(handler, serving)
  // A request without a host gets our own error response, not Node's.
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
    answer(incoming, outgoing)
    // Refused already: see `isTooFarAhead`.
    if (incoming.socket.destroyed) return
    streams.add(outgoing)
    outgoing.on('close', () => streams.delete(outgoing))
  })
  server.on('clientError', refuseSocket)
  // By default Node responds to these two itself, without JSON or not at all.
  server.on('connect', (_, socket) => refuseSocket(new Error('A tunnel was asked for.'), socket))
  server.on('checkExpectation', (_, outgoing: ServerResponse) => {
    const error = {
      code: 'bad-request',
      message: 'This server does not support this "expect" header.',
    }
    outgoing.writeHead(417, { 'content-type': 'application/json', ...safetyHeaders })
    outgoing.end(JSON.stringify({ error }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  }).catch((cause: unknown) => {
    const told = describeListenFault(cause, options, { port: '`port`', host: '`host`' })
    if (told === undefined) throw cause
    // Programs look for Node's codes, to try another port.
    const { code } = cause as NodeJS.ErrnoException
    throw Object.assign(new Error(told, { cause }), { code })
  })
  const address = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), farewellMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        for (const stream of streams) if (stream.headersSent) stream.destroy()
        server.closeIdleConnections()
      }),
  }
}

/**
 * How long a server that closes waits for requests that are not answered: somebody may have sent half of one, and a function
 * of the host's may never return.
 */
const farewellMs = 2_000

/**
 * A web-standard handler as a listener of Node's own HTTP server. For frameworks built on it: `toNodeHandler`. The
 * listener passes the address of the socket's peer to the handler, which a `Request` alone does not contain (see
 * `authenticate`).
 *
 * @example
 * createServer(toNodeListener(createHandler(holdfast, { authenticate }))).listen(8787)
 */
export function toNodeListener(
  handler: Handler,
  options: NodeListenerOptions = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  checkHandler('toNodeListener', handler, 'toNodeListener(createHandler(holdfast))')
  checkOptions('toNodeListener', options, nodeListenerRules)
  const { stallMs = 30_000, onError = logToStandardError } = options
  return (incoming, outgoing) => {
    checkNodeResponse('toNodeListener', outgoing)
    void serve(handler, { incoming, passed: incoming, body: undefined }, outgoing, stallMs, onError)
  }
}

/** The requests of one connection that wait for their responses, or arrive at once: nearly every client sends one at a time. */
const mostAhead = 10

const ahead = new WeakMap<Socket, number>()

/**
 * Node passes on every request of a connection as soon as it arrives, and holds the responses until they can be sent in
 * order. A connection that is used to send a thousand of them and to read nothing is closed: each would be built and held
 * (OP7a).
 */
function isTooFarAhead(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { socket, httpVersionMajor } = incoming
  // Later versions send responses in any order, and have bounds of their own.
  if (httpVersionMajor > 1) return false
  const count = (ahead.get(socket) ?? 0) + 1
  if (!socket.destroyed && count <= mostAhead) {
    ahead.set(socket, count)
    const leave = () => ahead.set(socket, (ahead.get(socket) ?? 1) - 1)
    // One turn later: Node passes on what has arrived in one piece in one turn, hundreds of requests, even where each is
    // answered before the next one. All others would wait for them.
    outgoing.on('close', () => setImmediate(leave))
    return false
  }
  socket.destroy()
  // What had arrived before that is passed on all the same, thousands of requests in one piece: each gets no listener, and
  // is over now, or Node makes an error with its stack for each of them, which takes longer than all the rest.
  incoming.destroy()
  return true
}

/** A request as Node or a framework built on it passes it. */
export interface NodeArrival {
  readonly incoming: IncomingMessage & {
    readonly originalUrl?: unknown
    readonly baseUrl?: unknown
  }
  /** The framework's own request: `incoming`, or the object that contains it. */
  readonly passed: object
  /** The body as code before the handler parsed it, where it has been read. */
  readonly body: unknown
}

/**
 * Never rejects: a failure is logged and reported to the client, or, once a response has begun, breaks the connection.
 */
export async function serve(
  handler: Handler,
  arrival: NodeArrival,
  outgoing: ServerResponse,
  stallMs: number,
  onError: (error: unknown) => void,
): Promise<void> {
  const { incoming } = arrival
  if (isTooFarAhead(incoming, outgoing)) return
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  try {
    await send(await answer(handler, arrival, gone.signal), incoming, outgoing, gone, stallMs)
  } catch (error) {
    // A client that has disconnected is no failure.
    if (gone.signal.aborted) return
    if (!isOrderly(error)) report(onError, error)
    // A partial response must not look like a complete one: the client has to see that the connection broke.
    if (outgoing.headersSent) outgoing.destroy()
    else await send(toErrorResponse(error), incoming, outgoing, gone, stallMs)
  }
}

/**
 * Errors that are expected: an error response, or a stream that is broken because the server shuts down or its thread
 * was deleted.
 */
const isOrderly = (error: unknown): boolean =>
  error instanceof ApiError || error instanceof TurnStreamBroken

/** A log that throws must not affect anything else. */
function report(onError: (error: unknown) => void, error: unknown): void {
  callObserver(() => onError(error), logToStandardError)
}

async function answer(
  handler: Handler,
  arrival: NodeArrival,
  signal: AbortSignal,
): Promise<Response> {
  const { incoming, passed } = arrival
  const request = toRequest(arrival, signal)
  rememberNodeRequest(request, passed)
  rememberPeer(request, incoming.socket.remoteAddress)
  const mount = toBasePath(incoming.baseUrl)
  if (mount !== null && mount !== '') rememberMount(request, mount)
  const response: unknown = await handler(request)
  if (response instanceof Response) return response
  throw new TypeError('The handler returned something that is no Response.')
}

function toRequest({ incoming, body }: NodeArrival, signal: AbortSignal): Request {
  const { method = 'GET', headers } = incoming
  const address = addressOf(incoming)
  // Methods and addresses that a web-standard request cannot have.
  if (address === null || ['CONNECT', 'TRACE', 'TRACK'].includes(method)) {
    throw new ApiError(400, 'bad-request', 'Bad address.')
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const isRead = hasBody && incoming.readableDidRead
  return new Request(address, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || (isRead && ofTheBytes.has(name))
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
    signal,
    ...(isRead ? { body: toReadBody(body) } : {}),
    ...(hasBody && !isRead ? { body: toBody(incoming), duplex: 'half' } : {}),
  })
}

/** Headers about the encoding of a body, which are wrong for one that is serialized again. */
const ofTheBytes: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'transfer-encoding',
])

/** The body of a request that a parser has already read, serialized from what it left. */
function toReadBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Uint8Array.from(body)
  const text = body === undefined ? undefined : JSON.stringify(body)
  if (text !== undefined) return text
  throw new TypeError(
    'Something before Holdfast has read the body of the request and left nothing of it. Mount the handler before it; or let it leave what it read in `req.body`, as express.json() does.',
  )
}

/**
 * Concatenated as text: resolved against a base, the path `//name/…` would be an address at another host, and the
 * origin check (HT4) would use a host name of the sender's choice.
 */
function addressOf(incoming: NodeArrival['incoming']): URL | null {
  const { headers, rawHeaders, httpVersion, socket } = incoming
  // Express and similar frameworks cut the mount path off `url`, and keep the whole one here.
  const path =
    typeof incoming.originalUrl === 'string' ? incoming.originalUrl : (incoming.url ?? '')
  // Node keeps the first of two `Host` headers and drops the second; a proxy may have used the other one.
  const isDouble =
    rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1
  const { host = httpVersion === '1.0' ? 'localhost' : '' } = headers
  if (isDouble || parseHost(host) === null || !path.startsWith('/')) return null
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http'
  return URL.parse(`${scheme}://${host}${path}`)
}

/**
 * Reads nothing before it is pulled, and on cancel lets the rest of the body pass: Node's own adapter would close the
 * connection, and the response could not be sent on it.
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
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  gone: AbortController,
  stallMs: number,
): Promise<void> {
  // Before the first byte is sent: a body that cannot be read is still a 500 then.
  const stream = response.body === null ? undefined : byteStreamOf(response.body)
  const { signal } = gone
  const leave = () => stream?.cancel()
  signal.addEventListener('abort', leave)
  try {
    outgoing.writeHead(response.status, [...response.headers].flat())
    // A response may come before the whole request was read: the rest is discarded.
    incoming.resume()
    if (stream !== undefined) await pump(stream, outgoing, signal, stallMs)
    outgoing.end()
  } finally {
    signal.removeEventListener('abort', leave)
    // Also a body that was never begun, because the client has gone or the host has responded in its place: what it reads
    // from, and its slot in the limits, would otherwise stay in use (OP7a).
    leave()
  }
}

/** The next chunk is produced when the connection has consumed the previous one. */
async function pump(
  stream: ByteStream,
  outgoing: ServerResponse,
  gone: AbortSignal,
  stallMs: number,
): Promise<void> {
  // The head is sent with the first write.
  let isHeadOut = false
  while (!gone.aborted) {
    const piece = await stream.next()
    if (piece === null) return
    for (let from = 0; from < piece.length && !gone.aborted; from += mostAtOnce) {
      const part = piece.length <= mostAtOnce ? piece : piece.subarray(from, from + mostAtOnce)
      const isWhole = isHeadOut && part === piece
      const socket = isWhole && canWriteChunks(outgoing) ? outgoing.socket : null
      const isTaken = socket?.write(toChunk(part)) ?? outgoing.write(part)
      isHeadOut = true
      if (!isTaken) await drained(socket ?? outgoing, outgoing, gone, stallMs)
    }
  }
}

/** A client that consumes this much within `stallMs` is slow; one that does not has stopped reading. */
const mostAtOnce = 65_536

/**
 * Whether a chunk may be written to the socket directly. `ServerResponse.write` writes it in three parts, two of which
 * are allocated for each connection: a third of the cost of a frame with 500 followers. Not if something wraps `write`,
 * such as compression.
 */
const canWriteChunks = (outgoing: ServerResponse): boolean =>
  outgoing.chunkedEncoding &&
  outgoing.writableLength === 0 &&
  outgoing.write === ServerResponse.prototype.write

const chunks = new WeakMap<Uint8Array, Uint8Array>()

/** As one chunk of HTTP/1.1, encoded once for all connections that it is sent on. */
function toChunk(piece: Uint8Array): Uint8Array {
  const known = chunks.get(piece)
  if (known !== undefined) return known
  const head = Buffer.from(`${piece.length.toString(16)}\r\n`, 'latin1')
  const chunk = Buffer.concat([head, piece, Buffer.from('\r\n', 'latin1')])
  chunks.set(piece, chunk)
  return chunk
}

function drained(
  writer: Writable,
  outgoing: ServerResponse,
  gone: AbortSignal,
  stallMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => outgoing.destroy(), stallMs)
    const done = () => {
      clearTimeout(stalled)
      writer.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    writer.on('drain', done)
    gone.addEventListener('abort', done)
  })
}
