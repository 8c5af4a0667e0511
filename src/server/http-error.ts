import type { MessageId } from '../core/ids.ts'
import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import { ApiError } from '../protocol/api-error.ts'
import { safetyHeaders } from './safety-headers.ts'

/** The one table from what went wrong to what a client is told (HT1). */
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
 * What is over a limit goes away when somebody reads, leaves or is cut off: seconds, most often. A database that is away,
 * or a server that is going, is asked for again soon: another server may answer.
 */
const retryAfterSeconds: Readonly<Record<number, string>> = { 429: '5', 503: '1' }

/** Says what the address does take. */
export class MethodNotAllowed extends ApiError {
  readonly allow: string

  constructor(methods: readonly string[]) {
    const allow = methods.join(', ')
    super(405, 'method-not-allowed', `This takes ${allow}.`)
    this.allow = allow
  }
}

export const notFound = (what: string): ApiError =>
  new ApiError(404, `${what}-not-found`, `There is no such ${what}.`)

export const badRequest = (message: string): ApiError => new ApiError(400, 'bad-request', message)

export const runActive = (turnId: MessageId): ApiError =>
  new ApiError(409, 'run-active', 'This thread is being answered. Stop it, or wait.', {
    messageId: turnId,
  })

/** Whatever was thrown, as an answer. What is not ours is not told: it may hold a query or a path. */
export function toErrorResponse(error: unknown): Response {
  const { status, code, message, details } = toAnswer(error)
  const retryAfter = retryAfterSeconds[status]
  const headers = {
    ...safetyHeaders,
    ...(error instanceof MethodNotAllowed ? { allow: error.allow } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  }
  return Response.json({ error: { code, message, ...details } }, { status, headers })
}

/** What is said of these is not of the database. */
const ourFaults: ReadonlySet<ErrorCode> = new Set(['agent-failed', 'no-search', 'no-shares'])

function toAnswer(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (!(error instanceof HoldfastError) || error.code === 'bad-option') {
    return new ApiError(500, 'internal', 'Something went wrong here. It has been logged.')
  }
  const status = statuses[error.code]
  const unstored = error.isTemporary ? ' Nothing was stored: try again in a moment.' : ''
  const isOurs = status < 500 || ourFaults.has(error.code)
  const message = isOurs ? error.message : `The database cannot be used right now.${unstored}`
  return new ApiError(status, error.code, message)
}
