import type { DatabaseSync } from 'node:sqlite'
import { type LedgerStatements, prepareLedgerStatements } from './ledger-statements.ts'
import { openDatabase, watchOpenFile } from './open-database.ts'
import type { StatementAccess } from './prepared-statement.ts'
import { closedFault, toStoreFault } from './sqlite-error.ts'

/** One open database. Its calls are synchronous, so two transactions of one process never overlap. */
export interface SqliteConnection {
  /** Runs `work` in one snapshot. */
  read<Result>(work: (statements: LedgerStatements) => Result): Result
  /** Runs `work` in one transaction: everything it writes is stored, or nothing. */
  write<Result>(work: (statements: LedgerStatements) => Result): Result
  /** A transaction that its caller ends. Until then nothing else may use this connection. */
  begin(): Transaction
  /** From now on the log is copied into the file when `checkpoint` is called, and not within a commit. */
  keepLog(): void
  checkpoint(): void
  /** Identifies the file: see `OpenFile`. */
  readonly identity: string
  /** Where the file is, absolute; empty for a database without a file. */
  readonly path: string
  /** Throws once the path no longer leads to the open file. */
  checkFile(): void
  /** Changes each time that another connection has committed. */
  dataVersion(): number
  close(): void
}

export interface Transaction {
  readonly statements: LedgerStatements
  commit(): void
  /** Returns the fault to throw. */
  rollBack(error: unknown): unknown
}

const longestBlockMs = 20

export type AsyncConnection = StatementAccess<LedgerStatements>

export function createConnection(file: string, busyTimeoutMs: number): SqliteConnection {
  const db = openDatabase(file, busyTimeoutMs)
  // The process is blocked while SQLite waits, so SQLite waits only briefly; a longer wait happens between
  // two attempts.
  db.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, longestBlockMs)}`)
  const prepared = prepareAll(db, file)
  const { statements, begin, beginImmediate, commit, rollback, version, openFile } = prepared
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
        // Checked last: a commit to a file that was deleted would be reported as stored, and lost.
        check()
        commit.run()
        return result
      } catch (error) {
        rollBack()
        throw error
      }
    } catch (error) {
      // A file that was overwritten fails in many ways, and this is the reason for all of them.
      openFile.checkSometimes()
      throw toStoreFault(error)
    }
  }

  const rollBack = () => {
    try {
      rollback.run()
    } catch {
      // After a full disk or a failed write SQLite has rolled back already, and `ROLLBACK` fails.
    }
  }

  return {
    identity: openFile.identity,
    path: openFile.path,
    checkFile: () => openFile.check(),
    read: (work) => run(begin, () => openFile.checkSometimes(), work),
    write: (work) => run(beginImmediate, () => openFile.check(), work),
    begin() {
      if (isClosed) throw closedFault()
      try {
        beginImmediate.run()
      } catch (error) {
        throw toStoreFault(error)
      }
      return {
        statements,
        commit() {
          if (isClosed) throw closedFault()
          openFile.check()
          commit.run()
        },
        rollBack(error) {
          rollBack()
          return isClosed ? closedFault(error) : toStoreFault(error)
        },
      }
    },
    keepLog() {
      db.exec('PRAGMA wal_autocheckpoint = 0')
    },
    checkpoint() {
      try {
        db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      } catch {
        // Closed, or another process does it: the next commit of any connection does it too.
      }
    },
    dataVersion() {
      if (isClosed) throw closedFault()
      openFile.checkSometimes()
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
      openFile: watchOpenFile(db, file),
    }
  } catch (error) {
    db.close()
    throw toStoreFault(error)
  }
}
