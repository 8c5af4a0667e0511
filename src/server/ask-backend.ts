import { HoldfastError } from '../core/holdfast-error.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
import { createSseDecoder, type SseComment, type SseEvent } from '../protocol/sse.ts'
import { messageOf } from '../engine/translate-part.ts'
import { StreamCutError } from '../engine/model-error.ts'
import { translateDataStream } from './translate-data-stream.ts'

/** What of a client's headers a backend behind the proxy gets: names, or a function of them. */
export type ForwardHeaders = readonly string[] | ((headers: Headers) => HeadersInit)

/** Who asks, in which language, and what ties the request to a trace. */
export const defaultForwardHeaders: readonly string[] = [
  'authorization',
  'cookie',
  'accept-language',
  'user-agent',
  'x-request-id',
  'traceparent',
  'tracestate',
]

/** They belong to one connection, or are made anew for the body that is sent: never passed on. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-encoding',
])

export function toBackendHeaders(client: Headers, forward: ForwardHeaders): Headers {
  const chosen =
    typeof forward === 'function'
      ? new Headers(forward(client))
      : new Headers(
          forward.flatMap((name): [string, string][] => {
            const value = client.get(name)
            return value === null ? [] : [[name, value]]
          }),
        )
  for (const name of [...chosen.keys()]) if (ownHeaders.has(name)) chosen.delete(name)
  chosen.set('content-type', 'application/json')
  return chosen
}

/** What a client is told of a refusal, besides the body. */
const refusalHeaders = ['content-type', 'www-authenticate', 'retry-after', 'set-cookie'] as const
const longestRefusal = 65_536

/** The backend would not take it: its own words, for the client. */
export class BackendRefusal extends HoldfastError {
  readonly response: Response

  constructor(response: Response) {
    super('backend', `The backend answered ${response.status}.`)
    this.response = response
  }
}

/** The backend's answer as chunks, none of more bytes than `maxBytes`; throws what it is if it is not one. */
export async function openChunks(
  response: Response,
  maxBytes: number,
): Promise<ReadableStream<StreamChunk>> {
  const { status, body, headers } = response
  if (status >= 400 && status < 500) throw new BackendRefusal(await copyRefusal(response))
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!response.ok || body === null || isNoStream.test(type)) {
    await body?.cancel()
    const place = headers.get('location')
    const where = place === null ? '' : ` and points to ${place}`
    throw new HoldfastError(
      'backend',
      response.ok
        ? `The backend answered with ${type || 'nothing'}, which is no stream of a chat.`
        : `The backend answered ${status}${where}.`,
    )
  }
  const [first, bytes] = await peek(boundLines(body, maxBytes))
  // Some backends send one protocol under the other's header: what it begins with tells.
  const isEvents = /^(data|event|id|retry)?:/.test(new TextDecoder().decode(first))
  return isEvents
    ? chunksOfEvents(bytes)
    : translateDataStream(bytes, { approvals: true, unfinished: 'as-it-is' })
}

const isNoStream = /^(text\/html|application\/(json|xml|xhtml\+xml|pdf)|text\/xml|image\/.*)$/

async function copyRefusal(response: Response): Promise<Response> {
  const text = await readStart(response.body, longestRefusal)
  const headers = new Headers()
  for (const name of refusalHeaders) {
    const value = response.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(text, { status: response.status, headers })
}

async function readStart(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const piece of body ?? []) {
    text += decoder.decode(piece.subarray(0, maxBytes - size), { stream: true })
    size += piece.byteLength
    // Leaving the loop lets the rest go.
    if (size >= maxBytes) break
  }
  return text
}

/** A line is kept until it ends: one that never does must not take all there is. */
function boundLines(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): ReadableStream<Uint8Array> {
  const lineFeed = 10
  let size = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        const last = piece.lastIndexOf(lineFeed)
        size = last === -1 ? size + piece.byteLength : piece.byteLength - last - 1
        if (size > maxBytes) {
          throw new HoldfastError('backend', `The backend sent a line of over ${maxBytes} bytes.`)
        }
        controller.enqueue(piece)
      },
    }),
  )
}

async function peek(
  body: ReadableStream<Uint8Array>,
): Promise<[Uint8Array, ReadableStream<Uint8Array>]> {
  const reader = body.getReader()
  const { value: first = new Uint8Array() } = await reader.read()
  const whole = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return [first, whole]
}

function chunksOfEvents(body: ReadableStream<Uint8Array>): ReadableStream<StreamChunk> {
  let isFinished = false
  const toChunks = (item: SseEvent | SseComment): readonly StreamChunk[] => {
    if (item.type === 'comment' || item.data === '') return []
    if (item.data === '[DONE]') {
      // It says that this was all, which is an end too.
      const end: readonly StreamChunk[] = isFinished
        ? []
        : [{ type: 'finish', finishReason: 'other' }]
      isFinished = true
      return end
    }
    const chunk = parseChunk(item.data)
    isFinished ||= chunk.type === 'finish' || chunk.type === 'error' || chunk.type === 'abort'
    return [chunk]
  }
  const decoder = createSseDecoder()
  return body.pipeThrough(new TextDecoderStream() as never).pipeThrough(
    new TransformStream<string, StreamChunk>({
      transform(text, controller) {
        for (const chunk of decoder.push(text).flatMap(toChunks)) controller.enqueue(chunk)
      },
      flush(controller) {
        for (const chunk of decoder.end().flatMap(toChunks)) controller.enqueue(chunk)
      },
    }),
  )
}

function parseChunk(data: string): StreamChunk {
  try {
    return JSON.parse(data) as StreamChunk
  } catch {
    throw new HoldfastError('backend', 'The backend sent an event that cannot be read.')
  }
}

/** A connection that did not come about, or broke: in words of ours. */
export function toBackendError(error: unknown, hasBegun: boolean): unknown {
  if (error instanceof HoldfastError) return error
  return hasBegun
    ? new StreamCutError(messageOf(error), { cause: error })
    : new HoldfastError('backend', 'The backend could not be reached.', { cause: error })
}
