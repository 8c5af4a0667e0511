import type { ThreadStaging } from '../store.ts'
import type { AsyncConnection } from './connection.ts'
import { stagedOwner } from './ledger-sql.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { hideThread } from './remove-thread.ts'

/** Nobody writes a thread for as long: whoever staged it is dead. */
const longestMs = 3_600_000

/** Threads that are written in many transactions and shown in one: see `Store.staging`. */
export function createSqliteStaging(
  { write }: Pick<AsyncConnection, 'write'>,
  nextCounter: (statements: LedgerStatements) => number,
): ThreadStaging {
  return {
    ownerId: stagedOwner,
    publish: (staged, { id, ownerId }) =>
      write((statements) => {
        const row = statements.readStaged.get(staged)
        if (row === undefined) return 'no-thread'
        if (statements.readKey.get(id) !== undefined) return 'exists'
        const counter = nextCounter(statements)
        // Another row under the same number: the id of a thread never changes.
        statements.deleteThread.run(row.thread)
        statements.insertPublished.run({ ...row, id, ownerId, counter })
        return 'published'
      }),
  }
}

/** What a process left that died before its thread was whole: the same as one that was deleted. */
export function hideLeftovers(
  statements: LedgerStatements,
  now: number,
  nextCounter: (statements: LedgerStatements) => number,
): void {
  for (;;) {
    const found = statements.findStaged.get(now - longestMs)
    if (found === undefined) return
    hideThread(statements, found.thread, nextCounter(statements))
  }
}
