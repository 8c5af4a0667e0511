/** Every fault that a caller may meet, by code. The server maps each to one HTTP status. */
export type ErrorCode =
  | 'bad-id'
  | 'bad-cursor'
  | 'bad-limit'
  | 'bad-event'
  | 'bad-request'
  /** An option of the host's own code is wrong: never caused by a request. */
  | 'bad-option'
  | 'no-model'
  /** The choices of a request do not fit the host's schema, or there is none (AG2). */
  | 'bad-choices'
  /** The model that was picked does not accept a file of the message (AG2). */
  | 'file-not-accepted'
  /** The host's `agent` threw, timed out or returned something that is not an agent (AG1). */
  | 'agent-failed'
  /** The store has no index to search in. */
  | 'no-search'
  /** A failure of the backend behind the recording proxy. */
  | 'backend'
  /** A reader's place belongs to a history that the thread no longer has (OP6). */
  | 'other-history'
  /** An id is in use for something else. */
  | 'conflict'
  /** The thread has as many waiting inputs as the limit allows (IN6). */
  | 'queue-full'
  /** The input to be changed no longer waits: its turn runs or has ended (IN2). */
  | 'input-taken'
  | 'thread-not-found'
  | 'message-not-found'
  | 'call-not-found'
  | 'file-not-found'
  | 'file-too-large'
  /** The file's type is not accepted, or its bytes are not of the declared type. */
  | 'file-type'
  /** The owner's files have reached the limit of bytes. */
  | 'files-full'
  /** No file store is configured. */
  | 'no-files'
  /** The thread has as many links as the limit allows. */
  | 'shares-full'
  /** The store does not support links. */
  | 'no-shares'
  /** This process is shutting down and takes no more messages (OP11). */
  | 'closing'
  | 'store-closed'
  | 'store-locked'
  | 'store-read-only'
  | 'store-newer'
  | 'store-foreign'
  | 'store-unreachable'
  /** The disk of the database is full. */
  | 'store-full'
  | 'store-failed'
  /** The database file was removed or replaced by another one: needs a restart. */
  | 'store-replaced'

/** The one class of errors that Holdfast throws, distinguished by `code`. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: ErrorCode
  /**
   * Of a store or an agent: certainly nothing was stored, and the same call may succeed a moment later
   * (locked, unreachable, full). After any other fault it is unknown what was stored, and the caller must not
   * write it a second time.
   */
  readonly isTemporary: boolean
  /**
   * Of a commit: it may have been stored. Only the same planned commit may be passed to the store again,
   * which checks whether it is there before it writes; no other writer may repeat it.
   */
  readonly isInDoubt: boolean

  constructor(code: ErrorCode, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.isTemporary = options.isTemporary ?? false
    this.isInDoubt = options.isInDoubt ?? false
  }
}

/** Options of a `HoldfastError`. */
export interface HoldfastErrorOptions extends ErrorOptions {
  /** Whether the same call may succeed later. @default false */
  readonly isTemporary?: boolean
  /** Whether the operation may have taken effect in spite of the error. @default false */
  readonly isInDoubt?: boolean
}

/** The error for arguments or a request body that cannot be accepted as they are. */
export const badRequestFault = (message: string): HoldfastError =>
  new HoldfastError('bad-request', message)
