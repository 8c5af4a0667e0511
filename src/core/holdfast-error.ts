/** Every fault that a caller may meet, by code. The server maps each to one HTTP status. */
export type ErrorCode =
  | 'bad-id'
  | 'bad-cursor'
  | 'bad-limit'
  | 'bad-event'
  | 'bad-request'
  | 'no-model'
  /** Of a backend behind the recording proxy. */
  | 'backend'
  | 'thread-not-found'
  | 'message-not-found'
  | 'call-not-found'
  | 'store-closed'
  | 'store-locked'
  | 'store-read-only'
  | 'store-newer'
  | 'store-foreign'
  | 'store-unreachable'
  | 'store-failed'

export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
