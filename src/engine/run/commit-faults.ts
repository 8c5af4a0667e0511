import { HoldfastError } from '../../core/holdfast-error.ts'

export const isFault = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code.startsWith('store-') && error.code !== 'store-closed'

export const heldFault = () =>
  new HoldfastError(
    'store-locked',
    'Another process held the same rows for too long. Nothing was stored; try again.',
    { isTemporary: true },
  )

export const overdueFault = () =>
  new HoldfastError(
    'store-unreachable',
    'The database has not responded for a while. Nothing was stored; try again.',
    { isTemporary: true },
  )

/** The error for a commit that was never submitted to the store: whether it was stored cannot be in doubt. */
export const unstoredFault = (error: unknown): HoldfastError =>
  error instanceof HoldfastError && !error.isInDoubt
    ? error
    : new HoldfastError('store-unreachable', 'The database cannot be reached right now.', {
        cause: error,
        isTemporary: true,
      })

/**
 * The error for a commit of which an attempt got no answer. A later one that stored nothing does not settle it: the first
 * may be what holds the row, and store it a moment later. If the error claimed that nothing was stored, the writer would
 * send it twice.
 */
export const toErrorInDoubt = (error: unknown): unknown =>
  error instanceof HoldfastError && error.isTemporary
    ? new HoldfastError(
        'store-unreachable',
        'The database has not responded. What was being written may or may not have been stored.',
        { cause: error, isInDoubt: true },
      )
    : error
