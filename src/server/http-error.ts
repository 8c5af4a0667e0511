import { type ErrorCode, HoldfastError } from '../core/holdfast-error.ts'
import type { Json } from '../core/json.ts'

/** The one table from what went wrong to what a client is told (HT1). */
const statuses: Readonly<Record<ErrorCode, number>> = {
  'bad-id': 400,
  'bad-cursor': 400,
  'bad-limit': 400,
  'bad-event': 400,
  'bad-request': 400,
  'thread-not-found': 404,
  'message-not-found': 404,
  'call-not-found': 404,
  'store-closed': 503,
  'store-locked': 503,
  'store-read-only': 503,
  'store-newer': 503,
  'store-foreign': 503,
  'store-unreachable': 503,
  'store-failed': 503,
}

/** An answer that is not the one that was asked for. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, Json>>

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, Json>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export const notFound = (what: string): HttpError =>
  new HttpError(404, `${what}-not-found`, `There is no such ${what}.`)

export const badRequest = (message: string): HttpError => new HttpError(400, 'bad-request', message)

/** Whatever was thrown, as an answer. What is not ours is not told: it may hold a query or a path. */
export function toErrorResponse(error: unknown): Response {
  const { status, code, message, details } = toHttpError(error)
  return Response.json({ error: { code, message, ...details } }, { status })
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (!(error instanceof HoldfastError)) {
    return new HttpError(500, 'internal', 'Something went wrong here. It has been logged.')
  }
  const status = statuses[error.code]
  const message = status < 500 ? error.message : 'The database cannot be used right now.'
  return new HttpError(status, error.code, message)
}
