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

export const isUnborn = (place: LeaseRow): boolean => place === unborn

/** What else stands in the row of a thread that is made with its first append. */
export interface Beginning extends Pick<LeaseRow, 'seq' | 'fence' | 'holder' | 'turnId' | 'until'> {
  readonly counter: number
  readonly activityAt: number | null
}

export function insertThread(
  statements: LedgerStatements,
  { id, ownerId, title, at }: NewThread,
  { seq, fence, holder, turnId, until, counter, activityAt }: Beginning,
): ThreadKey {
  const lease = { fence, holder, turnId, until }
  const row = { id, ownerId, title, at, updatedAt: activityAt ?? at, seq, counter, ...lease }
  return Number(statements.insertThread.run(row).lastInsertRowid)
}

export const insertEmptyThread = (
  statements: LedgerStatements,
  thread: NewThread,
  counter: number,
): ThreadKey => insertThread(statements, thread, { ...unborn, counter, activityAt: null })
