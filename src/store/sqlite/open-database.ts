import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { additiveVersions, allMigrations } from './migrations/all-migrations.ts'
import { findPlaceFault } from './place-fault.ts'
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
