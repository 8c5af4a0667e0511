import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/holdfast-error.ts'

/** The files behind an open connection, as they are found by their names. */
export interface OpenFile {
  /** Which file it is, and not a copy of it; empty for a database that has none. */
  readonly identity: string
  /**
   * Throws once the database, or the log that it writes to first, is no longer what its name leads to. SQLite goes on
   * with a file that has been deleted or replaced: what it says it stored is then nowhere after the next start.
   *
   * It throws for good: while the name led elsewhere another process may have made a database of its own there, and
   * the two would take each other's log for theirs.
   */
  check(): void
  /** The same for whoever asks often: looks now and then. */
  checkSometimes(): void
}

const lookEveryMs = 250

/** `file` as it was given to SQLite. */
export function watchOpenFile(db: DatabaseSync, file: string): OpenFile {
  const place = readPlace(db)
  // A database in memory, or a temporary one: it has no name that could lead elsewhere.
  if (place === '') return { identity: '', check() {}, checkSometimes() {} }
  const name = file.startsWith('file:') ? place : resolve(file)
  const known = new Map<string, string>()
  let lost: HoldfastError | undefined
  let lookedAt = 0

  const isSame = (path: string): boolean => {
    const found = identify(path)
    const before = known.get(path)
    if (before === undefined && found !== null && found !== undefined) known.set(path, found)
    return found === undefined || before === undefined || before === found
  }
  const check = () => {
    lookedAt = performance.now()
    // The name that was given may be a link that is made to point elsewhere; the log stands beside the file itself.
    if (lost === undefined && ![name, place, `${place}-wal`].every(isSame)) {
      lost = new HoldfastError(
        'store-replaced',
        `The database ${name} was deleted, moved or replaced while it was open. Nothing is stored until it is put back and this process is started again.`,
        { isTemporary: true },
      )
    }
    if (lost !== undefined) throw lost
  }
  check()
  return {
    identity: known.get(place) ?? '',
    check,
    checkSometimes() {
      if (lost !== undefined) throw lost
      if (performance.now() - lookedAt >= lookEveryMs) check()
    },
  }
}

/** As SQLite found it: absolute, with links resolved. */
const readPlace = (db: DatabaseSync): string =>
  String(
    db.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").get()?.['file'] ?? '',
  )

/** Which file a name leads to; null: to none. Undefined where that cannot be seen now, which proves nothing. */
function identify(path: string): string | null | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : `${found.dev}.${found.ino}`
  } catch {
    // No right to look, a disk that does not answer: reading and writing will tell.
    return undefined
  }
}
