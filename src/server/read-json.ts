import type { Json } from '../core/json.ts'
import { createJsonScanner, deepestJson } from '../core/json-depth.ts'
import { mostKeys } from '../core/json-width.ts'
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
  const { hold } = bodyMeter
  const text = await readText(request, { maxBytes, mostValues: mostBodyValues, types, hold })
  if (text === null) return {}
  try {
    return JSON.parse(text.join('')) as Json
  } catch {
    throw badRequest('The body is not JSON.')
  }
}

/** What is done with a value takes a microsecond each, and cannot be paused (OP7). */
const mostBodyValues = 100_000

export interface TextLimits {
  readonly maxBytes: number
  /** @default any number */
  readonly mostValues?: number
  readonly types: RegExp
  /** Called with the size of each chunk before the chunk is kept; refuses by throwing. */
  readonly hold?: (bytes: number) => void
}

/**
 * JSON text, not too deep, in chunks as they arrived: the large body of an import is never decoded or scanned at once
 * (OP7). Null for a request without a body and without a content type.
 */
export async function readText(
  request: Request,
  { maxBytes, mostValues = Number.POSITIVE_INFINITY, types, hold = () => {} }: TextLimits,
): Promise<string[] | null> {
  const type = request.headers.get('content-type')
  if (type === null ? hasBody(request) : !types.test(type)) {
    throw unsupported('Send the body as "content-type: application/json".')
  }
  checkEncoding(request.headers, type ?? '')
  if (type === null) return null
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const pieces: string[] = []
  const scan = createJsonScanner()
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const add = (piece: string) => {
      if (piece !== '') pieces.push(piece)
      const { depth, values, keys } = scan(piece)
      if (depth > deepestJson) {
        throw badRequest(`The body is nested deeper than ${deepestJson} levels.`)
      }
      if (values > mostValues) {
        throw badRequest(`The body has more than ${mostValues} values.`)
      }
      if (keys > mostKeys) {
        throw badRequest(`An object of the body has more than ${mostKeys} keys.`)
      }
    }
    for await (const chunk of readChunks(request, maxBytes)) {
      hold(chunk.byteLength + chunkCost)
      add(decoder.decode(chunk, { stream: true }))
    }
    add(decoder.decode())
    return pieces
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
const pieceBytes = 65_536
/** What a chunk takes beside its bytes: most of the memory of a body that arrives two bytes at a time. */
const chunkCost = 32

async function* readChunks(request: Request, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of request.body ?? new Blob().stream()) {
    size += chunk.byteLength
    // Leaving the loop cancels the body.
    if (size > maxBytes) throw tooLarge(maxBytes)
    for (let at = 0; at < chunk.byteLength; at += pieceBytes)
      yield chunk.subarray(at, at + pieceBytes)
  }
}
