import type { DatabaseSync } from 'node:sqlite'
import { type LedgerStatements, prepareLedgerStatements } from './ledger-statements.ts'
import { openDatabase, watchOpenFile } from './open-database.ts'
import { closedFault, toStoreFault } from './sqlite-error.ts'

/** One open database. Everything in it is synchronous, so transactions never meet in a process. */
export interface Connection {
  /** One snapshot for all that `work` reads. */
  read<Result>(work: (statements: LedgerStatements) => Result): Result
  /** All that `work` writes, or nothing. */
  write<Result>(work: (statements: LedgerStatements) => Result): Result
  /** Which file it is: see `OpenFile`. */
  readonly identity: string
  /** Another number each time that another connection has committed. */
  dataVersion(): number
  close(): void
}

const longestBlockMs = 20

/** The verbs of a connection, when they may have to wait. */
export interface AsyncConnection {
  read<Result>(work: (statements: LedgerStatements) => Result): Promise<Result>
  write<Result>(work: (statements: LedgerStatements) => Result): Promise<Result>
}

export function createConnection(file: string, busyTimeoutMs: number): Connection {
  const db = openDatabase(file, busyTimeoutMs)
  // Nothing else of this process runs while SQLite waits: whoever waits longer does so between two tries.
  db.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, longestBlockMs)}`)
  const prepared = prepareAll(db, file)
  const { statements, begin, beginImmediate, commit, rollback, version, place } = prepared
  let isClosed = false

  const run = <Result>(
    start: { run(): unknown },
    check: () => void,
    work: (s: LedgerStatements) => Result,
  ) => {
    if (isClosed) throw closedFault()
    try {
      start.run()
      try {
        const result = work(statements)
        // At the last moment: what is committed to a file that is gone is told as stored, and lost.
        check()
        commit.run()
        return result
      } catch (error) {
        rollBack()
        throw error
      }
    } catch (error) {
      throw toStoreFault(error)
    }
  }

  const rollBack = () => {
    try {
      rollback.run()
    } catch {
      // After a full disk or a failed write SQLite has rolled back already and says there is nothing to.
    }
  }

  return {
    identity: place.identity,
    read: (work) => run(begin, () => place.checkSometimes(), work),
    write: (work) => run(beginImmediate, () => place.check(), work),
    dataVersion() {
      if (isClosed) throw closedFault()
      place.checkSometimes()
      return Number(version.get()?.['data_version'])
    },
    close() {
      if (isClosed) return
      isClosed = true
      db.close()
    },
  }
}

function prepareAll(db: DatabaseSync, file: string) {
  try {
    return {
      statements: prepareLedgerStatements(db),
      begin: db.prepare('BEGIN'),
      beginImmediate: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      rollback: db.prepare('ROLLBACK'),
      version: db.prepare('PRAGMA data_version'),
      place: watchOpenFile(db, file),
    }
  } catch (error) {
    db.close()
    throw toStoreFault(error)
  }
}
