import type { Json } from '../core/json.ts'
import { deepestJson, depthOfText } from '../core/json-depth.ts'
import { ApiError } from '../protocol/api-error.ts'
import { badRequest } from './http-error.ts'

/** A JSON body, with its type, size and depth checked before anything looks at it (HT3). */
export async function readJson(request: Request, maxBytes: number): Promise<Json> {
  const text = await readText(request, maxBytes, /^application\/json\s*(;|$)/i)
  if (text === null) return {}
  try {
    return JSON.parse(text) as Json
  } catch {
    throw badRequest('The body is not JSON.')
  }
}

/** Text of JSON, not too deep. Null for a request that has no body and claims none. */
export async function readText(
  request: Request,
  maxBytes: number,
  types: RegExp,
): Promise<string | null> {
  const type = request.headers.get('content-type')
  if (type === null ? hasBody(request) : !types.test(type)) {
    throw unsupported('Send the body as "content-type: application/json".')
  }
  checkEncoding(request.headers, type ?? '')
  if (type === null) return null
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  try {
    const bytes = await readBytes(request, maxBytes)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (depthOfText(text) > deepestJson) {
      throw badRequest(`The body is nested deeper than ${deepestJson} levels.`)
    }
    return text
  } catch (error) {
    throw error instanceof ApiError ? error : badRequest('The body is not UTF-8.')
  }
}

const unsupported = (message: string): ApiError => new ApiError(415, 'unsupported-type', message)

/** JSON is UTF-8, and is not unpacked here: a small body could become one of any size. */
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

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const reader = (request.body ?? new Blob().stream()).getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBytes) {
      void reader.cancel()
      throw tooLarge(maxBytes)
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
