import { fileURLToPath } from 'node:url'
import { badOption, describeValue } from '../../core/check-options.ts'

/**
 * The name of a database file, as `sqlite` was given it. A `file:` address, the form that environment variables of other
 * tools have, becomes the name that it means: SQLite would accept it, but the folder of the files and every message are
 * named after it.
 */
export function parseFileName(given: unknown): string {
  // SQLite opens a temporary database for an empty name, which is lost on close.
  if (typeof given !== 'string' || given.trim() === '') {
    throw badOption(`sqlite takes the name of a file, not ${describeValue(given)}.`)
  }
  if (/^file:/i.test(given)) return parseFileAddress(given)
  // No more of it is shown: it may hold a password. One letter is a drive of Windows.
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(given) ?? []
  if (scheme === undefined) return given
  const hint = /^postgres(?:ql)?$/i.test(scheme)
    ? ' For PostgreSQL: postgres(url), from holdfast/postgres.'
    : ''
  throw badOption(`sqlite takes the name of a file, not a ${scheme}:// address.${hint}`)
}

function parseFileAddress(given: string): string {
  const [, path = '', rest = ''] = /^file:([^?#]*)(.*)$/is.exec(given) ?? []
  // Such as `nolock` and `immutable`, with which two processes destroy a database, or `mode=memory`.
  if (rest !== '') {
    throw badOption(
      'sqlite takes the name of a file, without parameters: a "?" or "#" that belongs to the name is written without "file:".',
    )
  }
  const name = toPath(path)
  if (name === undefined || name === '') {
    throw badOption(`sqlite takes the name of a file, and ${describeValue(given)} names none.`)
  }
  if (name === ':memory:') throw badOption('sqlite: a database in memory is ":memory:".')
  return name
}

/** Undefined for the file of another machine, and for what cannot be decoded. */
function toPath(path: string): string | undefined {
  try {
    return path.startsWith('/') ? fileURLToPath(`file:${path}`) : decodeURIComponent(path)
  } catch {
    return undefined
  }
}
