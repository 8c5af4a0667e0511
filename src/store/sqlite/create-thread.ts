import type { OwnerId } from '../../core/ids.ts'
import type { Append, NewThread } from '../store.ts'
import type { LeaseRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

/** What an append that makes its thread is checked against: no row has this number. */
const unborn: LeaseRow = {
  thread: 0,
  ownerId: '' as OwnerId,
  seq: 0,
  fence: 0,
  holder: null,
  turnId: null,
  until: null,
  stopFence: null,
}

/** The thread that an append is for, or a place for the one that it makes. */
export function findPlace(
  { readLease }: LedgerStatements,
  { threadId, create }: Append,
): LeaseRow | undefined {
  const found = readLease.get(threadId)
  if (create === undefined) return found
  if (found === undefined) return unborn
  return found.ownerId === create.ownerId ? found : undefined
}

/** Once nothing speaks against the append, its thread is there. */
export function settlePlace(
  statements: LedgerStatements,
  place: LeaseRow,
  { threadId, create }: Append,
  nextCounter: () => number,
): LeaseRow {
  if (place !== unborn || create === undefined) return place
  const thread = insertThread(statements, { id: threadId, ...create }, nextCounter())
  return { ...place, thread }
}

export function insertThread(
  statements: LedgerStatements,
  { id, ownerId, title, at }: NewThread,
  counter: number,
): ThreadKey {
  const { lastInsertRowid } = statements.insertThread.run({ id, ownerId, title, at, counter })
  return Number(lastInsertRowid)
}
