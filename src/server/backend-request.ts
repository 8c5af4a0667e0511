import { HoldfastError } from '../core/holdfast-error.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
import { createSseDecoder, type SseComment, type SseEvent } from '../protocol/sse.ts'
import { messageOf } from '../engine/model/translate-part.ts'
import { StreamCutError } from '../engine/model/model-error.ts'
import { checkEvent, checkEventChars } from './check-event.ts'
import { expandText } from './expand-text.ts'
import { translateLines } from './translate-data-stream.ts'

/** Which of the client's headers are forwarded to the backend behind the proxy: names, or a function of the headers. */
export type ForwardHeaders = readonly string[] | ((headers: Headers) => HeadersInit)

/** The caller's identity and language, and the request's trace. */
export const defaultForwardHeaders: readonly string[] = [
  'authorization',
  'cookie',
  'accept-language',
  'user-agent',
  'x-request-id',
  'traceparent',
  'tracestate',
]

/** Headers that belong to one connection, or are generated for the forwarded body: never forwarded. */
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

/** The headers of a refusal that are passed to the client, besides the body. */
const refusalHeaders = ['content-type', 'www-authenticate', 'retry-after'] as const
const longestRefusal = 65_536

/** The backend refused the request: its own response, for the client. */
export class BackendRefusal extends HoldfastError {
  readonly response: Response

  constructor(response: Response) {
    super('backend', `The backend responded with ${response.status}.`)
    this.response = response
  }
}

/** The backend's response as chunks of at most `mostChars` each; throws if it is an error or no stream. */
export async function openChunks(
  response: Response,
  mostChars: number,
): Promise<ReadableStream<StreamChunk>> {
  const { status, body, headers } = response
  if (status >= 400 && status < 500) throw new BackendRefusal(await copyRefusal(response))
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!response.ok || body === null || isNoStream.test(type)) {
    await body?.cancel()
    const place = headers.get('location')
    throw new HoldfastError(
      'backend',
      response.ok
        ? `The backend responded with ${type || 'no content type'}, which is not a chat stream.`
        : `The backend responded with ${status}.`,
      // For the log only: clients read the message, and the address may contain a token or an internal host (HT6).
      place === null ? {} : { cause: new Error(`It points to ${place}.`) },
    )
  }
  const [first, bytes] = await peek(body)
  // Some backends send one protocol under the other's header: the first bytes decide.
  const isEvents = /^(data|event|id|retry)?:/.test(new TextDecoder().decode(first))
  return isEvents
    ? chunksOfEvents(bytes, mostChars)
    : translateLines(bytes, mostChars, { approvals: true, unfinished: 'as-it-is' })
}

const isNoStream = /^(text\/html|application\/(json|xml|xhtml\+xml|pdf)|text\/xml|image\/.*)$/

async function copyRefusal(response: Response): Promise<Response> {
  const text = await readStart(response.body, longestRefusal)
  const headers = new Headers()
  for (const name of refusalHeaders) {
    const value = response.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  // Each is a header of its own: joined by commas, as `get` gives them, they are one cookie that no browser reads.
  for (const cookie of response.headers.getSetCookie()) headers.append('set-cookie', cookie)
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
    // Leaving the loop cancels the rest.
    if (size >= maxBytes) break
  }
  return text
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

function chunksOfEvents(
  body: ReadableStream<Uint8Array>,
  mostChars: number,
): ReadableStream<StreamChunk> {
  let isFinished = false
  const toChunks = async function* (items: readonly (SseEvent | SseComment)[]) {
    for (const item of items) {
      if (item.type === 'comment' || item.data === '') continue
      if (item.data === '[DONE]') {
        // `[DONE]` marks the end of the stream, so it counts as a finish too.
        if (!isFinished) yield { type: 'finish', finishReason: 'other' }
        isFinished = true
        continue
      }
      await checkEvent(item.data, 'an event', mostChars)
      const chunk = parseChunk(item.data)
      isFinished ||= chunk.type === 'finish' || chunk.type === 'error' || chunk.type === 'abort'
      yield chunk
    }
  }
  const decoder = createSseDecoder()
  /** What was read since the last event: it is buffered until its blank line, which may never come. */
  let chars = 0
  return expandText<StreamChunk>(
    body,
    async function* (text) {
      const items = decoder.push(text)
      chars = items.some(({ type }) => type === 'event') ? 0 : chars + text.length
      checkEventChars(chars, 'an event', mostChars)
      yield* toChunks(items)
    },
    () => toChunks(decoder.end()),
  )
}

function parseChunk(data: string): StreamChunk {
  try {
    return JSON.parse(data) as StreamChunk
  } catch {
    throw new HoldfastError('backend', 'The backend sent an event that cannot be read.')
  }
}

/** A connection that failed or broke, as an error with our own text. */
export function toBackendError(error: unknown, hasBegun: boolean): unknown {
  if (error instanceof HoldfastError) return error
  return hasBegun
    ? new StreamCutError(messageOf(error), { cause: error })
    : new HoldfastError('backend', 'The backend could not be reached.', { cause: error })
}
