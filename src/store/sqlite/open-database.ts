import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { additiveVersions, allMigrations } from './migrations/all-migrations.ts'
import { isLocked, isPlaceFault, toStoreFault } from './sqlite-error.ts'

// Not a static import: see assert-node.ts.
const nodeSqlite = process.getBuiltinModule('node:sqlite')

/** "hold", so that a file can be told from other people's databases. */
const applicationId = 0x686f6c64

export function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new nodeSqlite.DatabaseSync(file, { enableForeignKeyConstraints: false })
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // Of a new file only. A result of 1 kB takes a fourth of a page of 4 kB and leaves the rest of the
    // fourth empty; in one of 8 kB seven fit.
    db.exec('PRAGMA page_size = 8192')
    migrate(db)
    useWriteAheadLog(db, busyTimeoutMs)
    db.exec('PRAGMA synchronous = FULL')
    return db
  } catch (error) {
    // Rolls back what the migration had begun.
    db?.close()
    throw (isPlaceFault(error) ? findPlaceFault(file, error) : null) ?? toStoreFault(error)
  }
}

/**
 * Whether a file is a database of this version, which opening it leaves as it is. One that another
 * program is in the middle of making counts as one.
 */
export function isCurrentDatabase(file: string): boolean {
  const db = new nodeSqlite.DatabaseSync(file, { readOnly: true })
  try {
    return (
      readNumber(db, 'SELECT user_version AS value FROM pragma_user_version') >=
      allMigrations.length
    )
  } finally {
    db.close()
  }
}

/** A copy of a database as it is at this moment, whoever writes to it meanwhile. */
export function copyDatabase(file: string, copy: string): void {
  const db = new nodeSqlite.DatabaseSync(file, { readOnly: true })
  try {
    db.prepare('VACUUM INTO ?').run(copy)
  } finally {
    db.close()
  }
}

/**
 * Before anything else: a database that is not ours, or too new for us, is left as it was. One that a newer
 * program has only added to is used as it is, so that both can run while one replaces the other.
 */
export function migrate(
  db: DatabaseSync,
  steps: readonly string[] = allMigrations,
  additive: ReadonlySet<number> = additiveVersions,
): void {
  db.exec('BEGIN IMMEDIATE')
  const version = readVersion(db, steps.length)
  const newSteps = steps.slice(version)
  for (const [index, statements] of newSteps.entries()) {
    db.exec(statements)
    recordStep(db, version + index + 1, additive)
  }
  // Also when nothing is new: SQLite tells only on writing that a file cannot be written to.
  db.exec(`PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${Math.max(version, steps.length)}`)
  db.exec(newSteps.length === 0 ? 'ROLLBACK' : 'COMMIT')
}

/** Only steps that add are written down: all that the version before has to know. */
function recordStep(db: DatabaseSync, version: number, additive: ReadonlySet<number>): void {
  if (!additive.has(version)) return
  db.exec('CREATE TABLE IF NOT EXISTS additive_migrations (version INTEGER PRIMARY KEY)')
  db.prepare('INSERT INTO additive_migrations (version) VALUES (?)').run(version)
}

function readVersion(db: DatabaseSync, newest: number): number {
  const owner = readNumber(db, 'SELECT application_id AS value FROM pragma_application_id')
  const version = readNumber(db, 'SELECT user_version AS value FROM pragma_user_version')
  const tables = readNumber(db, 'SELECT count(*) AS value FROM sqlite_schema')
  const isNew = owner === 0 && version === 0 && tables === 0
  if (owner !== applicationId && !isNew) {
    throw new HoldfastError('store-foreign', 'The database belongs to another program.')
  }
  if (version > newest && countAdditive(db, newest) < version - newest) {
    throw new HoldfastError(
      'store-newer',
      `The database is of version ${version}; this program knows ${newest} at most.`,
    )
  }
  return version
}

/** How many of the steps that this program does not know only added something. */
function countAdditive(db: DatabaseSync, newest: number): number {
  const found = readNumber(
    db,
    `SELECT count(*) AS value FROM sqlite_schema WHERE name = 'additive_migrations'`,
  )
  if (found === 0) return 0
  return readNumber(
    db,
    `SELECT count(*) AS value FROM additive_migrations WHERE version > ${newest}`,
  )
}

function readNumber(db: DatabaseSync, query: string): number {
  return Number(db.prepare(query).get()?.['value'])
}

/**
 * Changing the journal needs the file for itself, and SQLite refuses at once instead of waiting when
 * two processes try it together on a new file; one of them then finds it done.
 */
function useWriteAheadLog(db: DatabaseSync, busyTimeoutMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const pauseMs = 5
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isLocked(error) || waitedMs >= busyTimeoutMs) throw error
      Atomics.wait(pause, 0, 0, pauseMs)
    }
  }
}

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
  // The name that was given may be a link that is made to point elsewhere; the log stands beside the file itself.
  const paths = [...new Set([name, place, `${place}-wal`])]
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
    if (lost === undefined && !paths.every(isSame)) {
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

/**
 * Why a database cannot be opened where it is said to be. SQLite knows only that it cannot: whoever reads
 * that has to find out by themselves which of the folder, the file and its log it is about. Null: not known either.
 */
function findPlaceFault(file: string, cause: unknown): HoldfastError | null {
  if (file === ':memory:' || file.startsWith('file:')) return null
  const folder = dirname(file)
  const isFolder = (path: string) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder(folder)) {
    return new HoldfastError('store-failed', `There is no folder ${folder}.`, { cause })
  }
  if (isFolder(file)) return new HoldfastError('store-failed', `${file} is a folder.`, { cause })
  const blocked = [file, `${file}-wal`, `${file}-shm`].find((path) => !canWrite(path))
  if (blocked === undefined && canWrite(folder)) return null
  return new HoldfastError(
    'store-read-only',
    blocked === undefined
      ? `The folder ${folder} cannot be written to by this account, and the database needs room there for itself and its log.`
      : `The file ${blocked} cannot be written to by this account.`,
    { cause, isTemporary: true },
  )
}

/** What is not there is made by whoever may write to the folder. */
function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
