import type { Json } from '../core/json.ts'

/**
 * An error response: `{error: {code, message, …details}}` with a status. The server throws it and the client
 * throws it again, so both ends have the same error (HT1).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 where there was no response at all. */
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, Json>>
  /** How long the server asks to wait before the next attempt (`Retry-After`); 0 if it does not. */
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
