import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { allMigrations } from './migrations/all-migrations.ts'
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
      readNumber(db, 'SELECT user_version AS value FROM pragma_user_version') ===
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

/** Before anything else: a database that is not ours, or newer than us, is left as it was. */
function migrate(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  const version = readVersion(db)
  for (const statements of allMigrations.slice(version)) db.exec(statements)
  // Also when nothing is new: SQLite tells only on writing that a file cannot be written to.
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${allMigrations.length}`)
  db.exec(version === allMigrations.length ? 'ROLLBACK' : 'COMMIT')
}

function readVersion(db: DatabaseSync): number {
  const owner = readNumber(db, 'SELECT application_id AS value FROM pragma_application_id')
  const version = readNumber(db, 'SELECT user_version AS value FROM pragma_user_version')
  const tables = readNumber(db, 'SELECT count(*) AS value FROM sqlite_schema')
  const isNew = owner === 0 && version === 0 && tables === 0
  if (owner !== applicationId && !isNew) {
    throw new HoldfastError('store-foreign', 'The database belongs to another program.')
  }
  if (version > allMigrations.length) {
    throw new HoldfastError(
      'store-newer',
      `The database is of version ${version}; this program knows ${allMigrations.length} at most.`,
    )
  }
  return version
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
