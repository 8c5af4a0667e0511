import type { Json } from '../core/json.ts'
import { createJsonScanner, deepestJson } from '../core/json-depth.ts'
import { describeWidth, type JsonWidth, mostWidth } from '../core/json-width.ts'
import { ApiError } from '../protocol/api-error.ts'
import { badRequest } from './http-error.ts'
import type { RouteRequest } from './router.ts'

/**
 * A JSON body, with its type, size, depth and keys checked before it is parsed (HT3). It counts for its owner as it
 * arrives (OP7).
 */
export async function readJson(
  { request, bodyMeter }: Pick<RouteRequest, 'request' | 'bodyMeter'>,
  maxBytes: number,
): Promise<Json> {
  const types = /^application\/json\s*(;|$)/i
  const { hold, inLine } = bodyMeter
  const { values: mostValues } = mostBodyWidth
  const pieces: string[] = []
  const found = await readBody(request, {
    ...{ maxBytes, mostValues, types },
    arrive: ({ byteLength }) => hold(byteLength + chunkCost),
    keep: (text) => void pieces.push(text),
  })
  if (found === null) return {}
  const text = pieces.join('')
  if (found.values <= fewValues) return parse(text)
  return inLine(async () => {
    // Only now: of bodies that arrive at once, counting their keys would take a quarter of the time that parsing them does.
    if (createJsonScanner(mostBodyWidth.keys)(text).keys > mostBodyWidth.keys) throw tooWide()
    return parse(text)
  })
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw badRequest('The body is not JSON.')
  }
}

/** What is done with a value takes a microsecond each, and cannot be paused (OP7). */
const mostBodyWidth: JsonWidth = { values: 100_000, keys: mostWidth.keys }
/** These are parsed within a millisecond. */
const fewValues = 1_000

const tooWide = (): ApiError => badRequest(`The body has ${describeWidth(mostBodyWidth)}.`)

export interface BodyReading {
  readonly maxBytes: number
  /** @default any number: the messages of an import are checked one by one */
  readonly mostValues?: number
  readonly types: RegExp
  /** Given each chunk before the next is read; refuses by throwing. What it waits for, the client waits for. */
  readonly arrive: (chunk: Uint8Array) => void | Promise<void>
  /** Given the text of each chunk. @default it is only checked */
  readonly keep?: (text: string) => void
  /** Ends the reading, with the reason, even if nothing more arrives. */
  readonly signal?: AbortSignal
}

/**
 * Reads JSON text that is not too deep, in chunks as they arrive: the large body of an import is never decoded or scanned at
 * once (OP7). Returns how many values are in it; null for a request without a body and without a content type.
 */
export async function readBody(
  request: Request,
  {
    maxBytes,
    mostValues = Number.POSITIVE_INFINITY,
    types,
    arrive,
    keep = () => {},
    signal,
  }: BodyReading,
): Promise<{ readonly values: number } | null> {
  const type = request.headers.get('content-type')
  if (type === null ? hasBody(request) : !types.test(type)) {
    throw unsupported('Send the body as "content-type: application/json".')
  }
  checkEncoding(request.headers, type ?? '')
  if (type === null) return null
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const scan = createJsonScanner(0)
  let values = 0
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const add = (text: string) => {
      if (text !== '') keep(text)
      const shape = scan(text)
      values = shape.values
      if (shape.depth > deepestJson) {
        throw badRequest(`The body is nested deeper than ${deepestJson} levels.`)
      }
      if (values > mostValues) throw tooWide()
    }
    for await (const chunk of readChunks(request, maxBytes, signal)) {
      await arrive(chunk)
      add(decoder.decode(chunk, { stream: true }))
    }
    add(decoder.decode())
    return { values }
  } catch (error) {
    throw error instanceof ApiError ? error : badRequest('The body is not UTF-8.')
  }
}

const unsupported = (message: string): ApiError => new ApiError(415, 'unsupported-type', message)

/** JSON is UTF-8, and compressed bodies are refused: a small body could expand to any size. */
function checkEncoding(headers: Headers, type: string): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? 'utf-8'
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw unsupported(`Send the body in UTF-8, not in ${charset}.`)
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported(`Send the body as it is, without "content-encoding: ${encoding}".`)
  }
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError(413, 'too-large', `The body is larger than ${maxBytes} bytes.`)

function hasBody(request: Request): boolean {
  if (request.body === null) return false
  const length = request.headers.get('content-length')
  if (length !== null) return length !== '0'
  return request.headers.has('transfer-encoding')
}

/** The largest chunk that is handled at once, however the client and its transport split a body. */
export const pieceBytes = 65_536
/** What a chunk takes beside its bytes: most of the memory of a body that arrives two bytes at a time. */
const chunkCost = 32

async function* readChunks(
  { body }: Request,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = (body ?? new Blob().stream()).getReader()
  // A read that is under way ends with it, as if the body had.
  const cancel = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel)
  let size = 0
  try {
    for (;;) {
      const { done, value: chunk } = await reader.read()
      signal?.throwIfAborted()
      if (done) return
      size += chunk.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
      for (let at = 0; at < chunk.byteLength; at += pieceBytes)
        yield chunk.subarray(at, at + pieceBytes)
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}
