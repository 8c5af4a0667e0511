/** Every fault that a caller may meet, by code. The server maps each to one HTTP status. */
export type ErrorCode =
  | 'bad-id'
  | 'bad-cursor'
  | 'bad-limit'
  | 'bad-event'
  | 'bad-request'
  /** What the host's own code was given: never the fault of whoever sent a request. */
  | 'bad-option'
  | 'no-model'
  /** The choices of a request do not fit the host's schema, or there is none (AG2). */
  | 'bad-choices'
  /** The model that was picked does not take a file of the message (AG2). */
  | 'file-not-accepted'
  /** The host's `agent` threw, took too long or gave something that is none (AG1). */
  | 'agent-failed'
  /** The store has no index to search in. */
  | 'no-search'
  /** Of a backend behind the recording proxy. */
  | 'backend'
  /** A place in a history that the thread no longer has (OP6). */
  | 'other-history'
  /** An id is in use for something else. */
  | 'conflict'
  /** As many inputs wait in a thread as may (IN6). */
  | 'queue-full'
  /** An input that was to be changed no longer waits: it is being answered, or was (IN2). */
  | 'input-taken'
  | 'thread-not-found'
  | 'message-not-found'
  | 'call-not-found'
  | 'file-not-found'
  | 'file-too-large'
  /** Of a type that is not taken, or not what it says that it is. */
  | 'file-type'
  /** An owner has as many bytes of files as they may have. */
  | 'files-full'
  /** There is no file store. */
  | 'no-files'
  /** A thread has as many links as it may have. */
  | 'shares-full'
  /** The store keeps no links. */
  | 'no-shares'
  | 'store-closed'
  | 'store-locked'
  | 'store-read-only'
  | 'store-newer'
  | 'store-foreign'
  | 'store-unreachable'
  /** The disk of the database is full. */
  | 'store-full'
  | 'store-failed'
  /** The file of the database is no longer there, or is another one: needs a restart. */
  | 'store-replaced'

export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: ErrorCode
  /**
   * Of a store or an agent: certainly nothing was stored, and the same may work a moment later (locked, not there, full).
   * After any other fault it is not known what was stored, and nothing may be written twice.
   */
  readonly isTemporary: boolean
  /**
   * Of a commit: it may have been stored. The very same planned commit may be given to the store again,
   * which looks whether it is there before it writes; nobody else may try.
   */
  readonly isInDoubt: boolean

  constructor(code: ErrorCode, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.isTemporary = options.isTemporary ?? false
    this.isInDoubt = options.isInDoubt ?? false
  }
}

export interface HoldfastErrorOptions extends ErrorOptions {
  /** Whether the same may succeed later. @default false */
  readonly isTemporary?: boolean
  /** Whether what was asked for may have happened all the same. @default false */
  readonly isInDoubt?: boolean
}
