import { setImmediate as nextTurn } from 'node:timers/promises'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { PausableWork } from '../../core/pausable-work.ts'
import { createPacer, runPaced } from '../pacer.ts'
import { type SqliteConnection, createConnection } from './connection.ts'
import type { LedgerStatements } from './ledger-statements.ts'

/** Runs the work to its end and commits it, or rolls it back if it throws. */
export type LongWrite = <Result>(
  work: (statements: LedgerStatements) => PausableWork<Result>,
) => Promise<Result>

/**
 * Transactions of thousands of rows, or of many megabytes, go over several turns of the event loop (OP7). They have a
 * connection of their own: on the one that everybody uses, others would read what is not committed, and write into it.
 */
export interface LongWrites {
  /** Begins one. Throws if another process writes at the moment. */
  begin(): LongWrite
  /** Settles when the one that is open has ended: SQLite would block the process while another writer waits for it. */
  current(): Promise<void> | undefined
  close(): void
}

/** After about so much writing, some megabytes, the log is copied into the file. */
const checkpointAfterMs = 60

/** A second connection to the file that `first` has open, and to no other that was put in its place since. */
function openBeside(first: SqliteConnection): SqliteConnection {
  const second = createConnection(first.path, busyMs)
  if (second.identity === first.identity) {
    second.keepLog()
    return second
  }
  second.close()
  first.checkFile()
  throw new HoldfastError('store-failed', 'The database could not be opened a second time.')
}

/** Opening waits no longer for another process that writes: it is tried again, and nothing is blocked meanwhile. */
const busyMs = 10

export function createLongWrites(first: SqliteConnection): LongWrites {
  let connection: SqliteConnection | undefined
  let current: Promise<void> | undefined
  let writtenMs = 0
  return {
    begin() {
      const begun = performance.now()
      first.checkFile()
      // A database without a file is visible to its own connection only: there, who reads waits too.
      const own = (connection ??= first.path === '' ? first : openBeside(first))
      const transaction = own.begin()
      const { promise, resolve } = Promise.withResolvers<void>()
      current = promise
      const end = () => {
        current = undefined
        resolve()
      }
      return async (work) => {
        try {
          // Opening the connection and planning the work were a slice of their own.
          await nextTurn()
          const pace = createPacer()
          // Not by `createFairTurns`: it would use each turn up, and nobody could read until it has ended.
          const result = await runPaced(work(transaction.statements), pace)
          await pace()
          transaction.commit()
          writtenMs += performance.now() - begun
          if (writtenMs >= checkpointAfterMs) {
            writtenMs = 0
            // A checkpoint takes as long as the commit did, so it runs in a later turn of the event loop.
            setImmediate(() => own.checkpoint())
          }
          return result
        } catch (error) {
          throw transaction.rollBack(error)
        } finally {
          end()
        }
      }
    },
    current: () => current,
    close: () => connection?.close(),
  }
}
