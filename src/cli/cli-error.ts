import { HoldfastError, type ErrorCode } from '../core/holdfast-error.ts'

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

/** One sentence about what happened, one about what to do. A bug shows its stack instead. */
export function explain(error: unknown): string {
  if (error instanceof CliError) return error.message
  if (error instanceof HoldfastError) {
    const what = advice[error.code]
    return what === undefined ? error.message : `${error.message} ${what}`
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
