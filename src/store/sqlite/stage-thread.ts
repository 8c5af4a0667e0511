import type { ThreadStaging } from '../store.ts'
import type { AsyncConnection } from './connection.ts'
import { useFiles } from './file-records.ts'
import { stagedOwner } from './ledger-sql.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { hideThread } from './remove-thread.ts'

/** No import takes this long: the process that staged the thread is dead. */
const longestMs = 3_600_000

/** Threads that are written in many transactions and published in one: see `Store.staging`. */
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
        // A new row with the same key, because the id of a row never changes.
        statements.deleteThread.run(row.thread)
        statements.insertPublished.run({ ...row, id, ownerId, counter })
        // Only now is it known which of its files are its owner's.
        const uses = statements.readFileUses.all(row.thread).map((use) => use.id)
        statements.releaseFiles.run({ thread: row.thread })
        statements.deleteFileUses.run(row.thread)
        useFiles(statements, row.thread, uses)
        return 'published'
      }),
  }
}

/** Hides the threads of processes that died before publishing them; they are then removed like deleted ones. */
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
