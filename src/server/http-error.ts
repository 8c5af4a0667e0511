import type { Decision } from '../core/call.ts'
import type { MessageId } from '../core/ids.ts'
import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import { ApiError } from '../protocol/api-error.ts'
import { safetyHeaders } from './safety-headers.ts'

/** The only mapping from error codes to HTTP statuses (HT1). */
const statuses: Readonly<Record<ErrorCode, number>> = {
  'bad-id': 400,
  'bad-cursor': 400,
  'bad-limit': 400,
  'bad-event': 400,
  'bad-request': 400,
  'bad-option': 500,
  'no-model': 409,
  'bad-choices': 400,
  'file-not-accepted': 400,
  'agent-failed': 503,
  'no-search': 501,
  backend: 502,
  'other-history': 409,
  conflict: 409,
  'queue-full': 429,
  'input-taken': 409,
  'thread-not-found': 404,
  'message-not-found': 404,
  'call-not-found': 404,
  'file-not-found': 404,
  'file-too-large': 413,
  'file-type': 415,
  'files-full': 413,
  'no-files': 501,
  'shares-full': 409,
  'no-shares': 501,
  closing: 503,
  'store-closed': 503,
  'store-locked': 503,
  'store-read-only': 503,
  'store-newer': 503,
  'store-foreign': 503,
  'store-unreachable': 503,
  'store-full': 503,
  'store-failed': 503,
  'store-replaced': 503,
}

/**
 * A limit is exceeded until a client reads, leaves or is disconnected: usually seconds. For an unreachable database, or
 * a server that is shutting down, a client retries soon: another server may respond.
 */
const retryAfterSeconds: Readonly<Record<number, string>> = { 429: '5', 503: '1' }

/** Names the methods that the address accepts. */
export class MethodNotAllowed extends ApiError {
  readonly allow: string

  constructor(methods: readonly string[]) {
    const allow = methods.join(', ')
    super(405, 'method-not-allowed', `This takes ${allow}.`)
    this.allow = allow
  }
}

/** A range that a file does not have. Its size is in the response, so that the client can ask for one that it has. */
export class RangeNotSatisfiable extends ApiError {
  readonly contentRange: string

  constructor(bytes: number) {
    super(416, 'bad-range', `The file has ${bytes} bytes.`)
    // RFC 9110, 15.5.17.
    this.contentRange = `bytes */${bytes}`
  }
}

export const notFound = (what: string): ApiError =>
  new ApiError(404, `${what}-not-found`, `There is no such ${what}.`)

export const badRequest = (message: string): ApiError => new ApiError(400, 'bad-request', message)

export const runActive = (turnId: MessageId): ApiError =>
  new ApiError(
    409,
    'run-active',
    'An answer in this thread runs, or waits for a person. Stop it, or wait.',
    {
      messageId: turnId,
    },
  )

/** Another decision was made on the call before: by whom, and which (AP2). */
export const alreadyDecided = ({ by: decidedBy, kind: decision }: Decision): ApiError =>
  new ApiError(409, 'already-decided', `This call was ${decision} by ${decidedBy}.`, {
    decidedBy,
    decision,
  })

/** Any thrown value as a response. The text of foreign errors is not sent: it may contain a query or a path. */
export function toErrorResponse(error: unknown): Response {
  const { status, code, message, details } = toAnswer(error)
  const retryAfter = retryAfterSeconds[status]
  const headers = {
    ...safetyHeaders,
    ...(error instanceof MethodNotAllowed ? { allow: error.allow } : {}),
    ...(error instanceof RangeNotSatisfiable ? { 'content-range': error.contentRange } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  }
  return Response.json({ error: { code, message, ...details } }, { status, headers })
}

/** Codes whose message is not about the database. */
const ourFaults: ReadonlySet<ErrorCode> = new Set([
  'agent-failed',
  'no-search',
  'no-shares',
  'closing',
])

function toAnswer(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (!(error instanceof HoldfastError) || error.code === 'bad-option') {
    return new ApiError(500, 'internal', 'An internal error occurred. It has been logged.')
  }
  const status = statuses[error.code]
  const unstored = error.isTemporary ? ' Nothing was stored: try again in a moment.' : ''
  const isOurs = status < 500 || ourFaults.has(error.code)
  const message = isOurs ? error.message : `The database cannot be used right now.${unstored}`
  return new ApiError(status, error.code, message)
}
