import { type ErrorCode, HoldfastError } from '../../core/holdfast-error.ts'

type Fault = readonly [code: ErrorCode, message: string]

/** Nothing was written, and a later attempt may succeed: locked, read-only, full, cannot be opened. */
const temporary: ReadonlySet<number> = new Set([5, 6, 8, 13, 14])

/** By SQLite's primary result code. */
const faults: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  [5, ['store-locked', 'The database is locked by another process.']],
  [6, ['store-locked', 'The database is locked by another connection.']],
  [8, ['store-read-only', 'The database file, or the folder it is in, cannot be written to.']],
  [10, ['store-failed', 'The disk failed while the database was read or written.']],
  [11, ['store-failed', 'The database file is damaged.']],
  [13, ['store-full', 'The disk is full.']],
  [14, ['store-failed', 'The database file cannot be opened or created.']],
  [26, ['store-foreign', 'The file is not a SQLite database.']],
])

/**
 * SQLite reports a full disk only for one of its causes. A quota or a limit of the file's size is a failed
 * write to it; its transaction was rolled back all the same.
 */
const failedWrite = 778
const fullDisk: Fault = ['store-full', 'The disk is full, or a limit is reached.']

/** Turns faults of the database into a `HoldfastError`; any other error is a bug and is returned as it is. */
export function toStoreFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof HoldfastError) return error
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  if (code === 'ERR_INVALID_STATE') return closedFault(error)
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return error
  const isFull = errcode === failedWrite
  const known = isFull ? fullDisk : faults.get(errcode & 0xff)
  const [ours, message] = known ?? ['store-failed', 'The database failed.']
  const isTemporary = isFull || temporary.has(errcode & 0xff)
  return new HoldfastError(ours, message, { cause: error, isTemporary })
}

export const closedFault = (cause?: unknown): HoldfastError =>
  new HoldfastError('store-closed', 'The store has been closed.', { cause })

/** Accepts SQLite's error or the `HoldfastError` made of it. */
export const isLocked = (error: unknown): boolean => {
  const fault = toStoreFault(error)
  return fault instanceof HoldfastError && fault.code === 'store-locked'
}

/** Read-only, or cannot be opened: the cause is the file's location and its permissions. */
export const isPathFault = (error: unknown): boolean =>
  isReadOnly(error) || primaryCodeOf(error) === 14

export const isReadOnly = (error: unknown): boolean => primaryCodeOf(error) === 8

function primaryCodeOf(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

/** The file does not begin as a database. */
export const isNoDatabase = (error: unknown): boolean =>
  (error as { readonly errcode?: unknown } | null)?.errcode === 26

/** Which id a unique key refused, as far as the message shows it. Nothing was stored then. */
export function isConflict(error: unknown): 'message' | 'call' | null {
  const cause = error instanceof HoldfastError ? error.cause : error
  const { errcode, message = '' } = (cause ?? {}) as {
    readonly errcode?: unknown
    readonly message?: string
  }
  if (typeof errcode !== 'number' || (errcode & 0xff) !== 19) return null
  return message.includes('call') ? 'call' : 'message'
}
