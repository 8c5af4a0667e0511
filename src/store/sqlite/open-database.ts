import { accessSync, closeSync, constants, openSync, readSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { additiveVersions, allMigrations } from './migrations/all-migrations.ts'
import { isLocked, isNoDatabase, isPathFault, isReadOnly, toStoreFault } from './sqlite-error.ts'

// Not a static import: see assert-node.ts.
const nodeSqlite = process.getBuiltinModule('node:sqlite')

/** "hold": distinguishes the file from databases of other programs. */
const applicationId = 0x686f6c64

/**
 * How large the file of the log stays once all of it is in the database; it is twice its usual size. While somebody reads for
 * long, as a backup does, the log grows with all that is written, and without this it would keep that size for ever.
 */
const mostLogBytes = 16_777_216

export function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new nodeSqlite.DatabaseSync(file, { enableForeignKeyConstraints: false })
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // Takes effect for a new file only. A result of 1 kB fills less than a fourth of a page of 4 kB, and only
    // three fit; in one of 8 kB seven fit.
    db.exec('PRAGMA page_size = 8192')
    migrate(db)
    useWriteAheadLog(db, busyTimeoutMs)
    db.exec('PRAGMA synchronous = FULL')
    db.exec(`PRAGMA journal_size_limit = ${mostLogBytes}`)
    return db
  } catch (error) {
    // Rolls back what the migration had begun.
    db?.close()
    throw toOpenFault(file, error)
  }
}

/**
 * Whether a file is a database of this version, so that opening it changes nothing. A database that another
 * process is creating at the moment counts as one.
 */
export const isCurrentDatabase = (file: string): boolean =>
  readFrom(file, (db) => readUserVersion(db) >= allMigrations.length)

/**
 * Whether a file is a database with nothing in it, as a file of no bytes is: opening it makes it one of Holdfast. False for
 * what cannot be read so, which opening it explains.
 */
export function isEmptyDatabase(file: string): boolean {
  try {
    return readFrom(file, isNewDatabase)
  } catch {
    // Locked, damaged, of another kind, or not to be read by this account.
    return false
  }
}

/** A copy of a database as it is at this moment, even while it is written to. */
export function copyDatabase(file: string, copy: string): void {
  readFrom(file, (db) => db.prepare('VACUUM INTO ?').run(copy))
}

function readFrom<Result>(file: string, read: (db: DatabaseSync) => Result): Result {
  let db: DatabaseSync | undefined
  try {
    db = new nodeSqlite.DatabaseSync(file, { readOnly: true })
    return read(db)
  } catch (error) {
    throw toOpenFault(file, error)
  } finally {
    db?.close()
  }
}

/**
 * Runs before anything else: a file that is not Holdfast's, or of a version that is too new, stays unchanged.
 * A database to which a newer version has only added is used as it is, so that both versions can run during a
 * deploy.
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
  // Also without a new migration: SQLite reports only on a write that a file is read-only.
  db.exec(`PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${Math.max(version, steps.length)}`)
  db.exec(newSteps.length === 0 ? 'ROLLBACK' : 'COMMIT')
}

/** Only additive migrations are recorded: an older version needs to know nothing else. */
function recordStep(db: DatabaseSync, version: number, additive: ReadonlySet<number>): void {
  if (!additive.has(version)) return
  db.exec('CREATE TABLE IF NOT EXISTS additive_migrations (version INTEGER PRIMARY KEY)')
  db.prepare('INSERT INTO additive_migrations (version) VALUES (?)').run(version)
}

const readOwner = (db: DatabaseSync): number =>
  readNumber(db, 'SELECT application_id AS value FROM pragma_application_id')
const readUserVersion = (db: DatabaseSync): number =>
  readNumber(db, 'SELECT user_version AS value FROM pragma_user_version')

const isNewDatabase = (db: DatabaseSync): boolean =>
  readOwner(db) === 0 &&
  readUserVersion(db) === 0 &&
  readNumber(db, 'SELECT count(*) AS value FROM sqlite_schema') === 0

function readVersion(db: DatabaseSync, newest: number): number {
  const version = readUserVersion(db)
  if (readOwner(db) !== applicationId && !isNewDatabase(db)) {
    throw new HoldfastError('store-foreign', 'The database belongs to another program.')
  }
  if (version > newest && countAdditive(db, newest) < version - newest) {
    throw new HoldfastError(
      'store-newer',
      `The database has version ${version}; this program supports versions up to ${newest}.`,
    )
  }
  return version
}

/** How many of the migrations that this version does not have were additive. */
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
 * Changing the journal mode needs an exclusive lock, and SQLite fails at once instead of waiting when two
 * processes try it on a new file; the one that fails then finds it done.
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

/** The files of an open connection, compared with what their paths lead to. */
export interface OpenFile {
  /** Identifies the file and not a copy of it; empty for a database without a file. */
  readonly identity: string
  /** Absolute, without links; empty for a database without a file. */
  readonly path: string
  /**
   * Throws once the path of the database, or of its write-ahead log, no longer leads to the open file, and now and then also
   * looks whether its content was overwritten, or the index of its log replaced. SQLite continues with a file that was deleted, replaced or truncated: what it
   * reports as stored would be gone after the next start.
   *
   * Once it has thrown, it always throws: while the path led elsewhere another process may have created a database there,
   * and each of the two would use the other's log.
   */
  check(): void
  /** The same for frequent callers: it checks only now and then. */
  checkSometimes(): void
}

const checkEveryMs = 250

/** `file` as it was passed to SQLite. */
export function watchOpenFile(db: DatabaseSync, file: string): OpenFile {
  const openPath = readPath(db)
  // A database in memory, or a temporary one: it has no path.
  if (openPath === '') return { identity: '', path: '', check() {}, checkSometimes() {} }
  const name = resolve(file)
  // The path may be a symbolic link that is changed to point elsewhere; the log is beside the file itself.
  const paths = [...new Set([name, openPath, `${openPath}-wal`])]
  const known = new Map<string, string>()
  let lost: HoldfastError | undefined
  let [checkedAt, readAt] = [0, Number.NEGATIVE_INFINITY]
  let wasOurs = false

  const isSame = (path: string): boolean => {
    const found = identify(path)
    const before = known.get(path)
    if (before === undefined && found !== null && found !== undefined) known.set(path, found)
    return found === undefined || before === undefined || before === found
  }
  /** Takes about 150 µs, half of a commit, so the files are read only now and then. */
  const isIntact = (): boolean => {
    if (checkedAt - readAt < checkEveryMs) return true
    readAt = checkedAt
    // Without it another process makes one of its own, and neither sees what the other has in the log.
    if (!isSame(`${openPath}-shm`) || !isLogOrEmpty(`${openPath}-wal`)) return false
    const isOurs = hasOurHeader(openPath)
    // A database that somebody else created in WAL mode, empty, has our header in its log alone until the first checkpoint.
    wasOurs ||= isOurs
    return isOurs || !wasOurs
  }
  const check = () => {
    checkedAt = performance.now()
    if (lost === undefined && !(paths.every(isSame) && isIntact())) {
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
    identity: known.get(openPath) ?? '',
    path: openPath,
    check,
    checkSometimes() {
      if (lost !== undefined) throw lost
      if (performance.now() - checkedAt >= checkEveryMs) check()
    },
  }
}

/** The path that SQLite resolved: absolute, without links. */
const readPath = (db: DatabaseSync): string =>
  String(
    db.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").get()?.['file'] ?? '',
  )

/**
 * Identifies the file at a path; null: there is none. Undefined where that cannot be read at the moment,
 * which proves nothing.
 */
function identify(path: string): string | null | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : `${found.dev}.${found.ino}`
  } catch {
    // No permission, or a disk that does not respond: reads and writes will report it.
    return undefined
  }
}

/**
 * Whether the file itself, without its log, begins as a database of Holdfast. True where that cannot be read at the moment,
 * which proves nothing.
 *
 * SQLite has to read it: by POSIX, closing any descriptor of a file drops all locks that the process has on it, and SQLite
 * alone keeps its own descriptors open for that reason. Without the lock another process that closes the database would
 * take it for unused, and delete the log under this one. `immutable`: it takes no lock, and reads no log.
 */
function hasOurHeader(path: string): boolean {
  let db: DatabaseSync | undefined
  try {
    db = new nodeSqlite.DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true })
    // Not by a SELECT, which would parse the whole schema first.
    return db.prepare('PRAGMA application_id').get()?.['application_id'] === applicationId
  } catch (error) {
    // A Node before 22.15 cannot open it so, and notices only that the file is empty.
    return !isNoDatabase(error) && !isEmpty(path)
  } finally {
    db?.close()
  }
}

function isEmpty(path: string): boolean {
  try {
    return statSync(path).size === 0
  } catch {
    // As in `identify`.
    return false
  }
}

/** The first bytes of every log; the last bit of the fourth is the byte order of its checksums. */
const logMagic = 0x377f0682

/**
 * Whether a write-ahead log is empty, as after a checkpoint that truncated it, or begins as one. One that was truncated by
 * somebody else has a hole there as soon as SQLite appends to it. SQLite has no locks on this file.
 */
function isLogOrEmpty(path: string): boolean {
  const bytes = Buffer.alloc(4)
  try {
    const log = openSync(path, 'r')
    try {
      if (readSync(log, bytes, 0, 4, 0) < 4) return true
    } finally {
      closeSync(log)
    }
  } catch {
    // No file: `isSame` reports it. Anything else proves nothing.
    return true
  }
  return (bytes.readUInt32BE() & ~1) === logMagic
}

/** Below this, a commit of the usual size may not fit. */
const leastRoomBytes = 1_048_576

/**
 * Whether the disk of the file looks full. Only a write can prove it: some of the room may be reserved for this account, and a
 * file system may not know its size.
 */
export function looksFull(path: string): boolean {
  if (path === '') return false
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize < leastRoomBytes
  } catch {
    return false
  }
}

const toOpenFault = (file: string, error: unknown): unknown =>
  isPathFault(error) && file !== ':memory:' ? findPathFault(file, error) : toStoreFault(error)

/**
 * The reason why a database cannot be opened at its path. SQLite reports only that it cannot; without this
 * the operator would have to find out whether the folder, the file or the log is the cause.
 */
function findPathFault(file: string, cause: unknown): unknown {
  const folder = dirname(file)
  const isFolder = (path: string) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder(folder)) {
    return new HoldfastError('store-failed', `There is no folder ${folder}.`, { cause })
  }
  if (isFolder(file)) return new HoldfastError('store-failed', `${file} is a folder.`, { cause })
  const blocked = [file, `${file}-wal`, `${file}-shm`].find((path) => !canWrite(path))
  if (blocked !== undefined || !canWrite(folder)) {
    return new HoldfastError(
      'store-read-only',
      blocked === undefined
        ? `The folder ${folder} cannot be written to by this account, and the database needs room there for itself and its log.`
        : `The file ${blocked} cannot be written to by this account.`,
      { cause, isTemporary: true },
    )
  }
  if (isReadOnly(cause)) return toStoreFault(cause)
  // As in /proc, where root may write and nobody can create a file.
  return new HoldfastError('store-failed', `The database ${file} cannot be opened or created.`, {
    cause,
    isTemporary: true,
  })
}

/** For a file that does not exist, the folder has to be writable. */
function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
