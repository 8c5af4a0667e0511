import { HoldfastError, type ErrorCode } from '../core/holdfast-error.ts'
import { oneLine } from './format-text.ts'

/** The command cannot be done. The message tells what is wrong and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError'
}

const advice: Partial<Readonly<Record<ErrorCode, string>>> = {
  'store-locked': 'Wait until the other program has finished, or stop it, and try again.',
  'store-read-only': 'Give this account the right to write there, or choose another with --db.',
  'store-newer': 'Install a newer holdfast.',
  'store-foreign': 'Choose another with --db.',
  'store-unreachable': 'Check the address in --db or HOLDFAST_DB, and that the server runs.',
  'store-full': 'Free space on the disk of the database, and try again.',
  'store-failed': 'Run `holdfast check` to see what is left.',
}

/** Faults with many reasons, of which only the database or the network knows which it is. */
const hasReason: ReadonlySet<ErrorCode> = new Set(['store-unreachable', 'store-failed'])

/** The words of the first cause, on one line; no driver has a password in them, and of an address it is taken out. */
function reasonOf(cause: unknown): string {
  // SQLite says in its own words what we have said in ours.
  if (!(cause instanceof Error) || ('code' in cause && cause.code === 'ERR_SQLITE_ERROR')) return ''
  if (cause.cause instanceof Error) return reasonOf(cause.cause)
  // A name with several addresses, each of which has failed.
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(reasonOf))].join('; ')
  return oneLine(cause.message).replace(/(\w:\/\/)\S*@/g, '$1…@')
}

/** One sentence about what happened, one about what to do. A bug shows its stack instead. */
export function explain(error: unknown): string {
  if (error instanceof CliError) return error.message
  if (error instanceof HoldfastError) {
    const cause = hasReason.has(error.code) ? reasonOf(error.cause) : ''
    const why = cause === '' ? undefined : `The cause: ${cause.replace(/\.$/, '')}.`
    return [error.message, why, advice[error.code]].filter((part) => part !== undefined).join(' ')
  }
  const { code, path, message, stack } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return `There is no file ${path ?? ''}. Check the name.`
    case 'EISDIR':
      return `${path ?? 'That'} is a folder. Name a file.`
    case 'EACCES':
      return `${path ?? 'The file'} cannot be read or written. Check its permissions.`
    default:
      return stack ?? message
  }
}
