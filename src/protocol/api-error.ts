import type { Json } from '../core/json.ts'

/**
 * An answer that is not the one that was asked for: `{error: {code, message, …details}}` with a status.
 * The server throws it and the client throws it again, so both ends tell the same thing (HT1).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 where there was no answer at all. */
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, Json>>
  /** How long the server asked to wait before the next try (`Retry-After`); 0 if it did not. */
  readonly retryAfterMs: number

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, Json>> = {},
    retryAfterMs = 0,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }
}
