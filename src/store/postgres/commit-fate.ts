import { isAnother } from '../../core/thread-place.ts'
import { type Appended, appendedAt } from '../lease.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import { type RunStatement, type Statement, toCompactStatement, toPlainText } from './statement.ts'

/**
 * What happened to a commit whose answer was lost. `absent`: it was not stored when this was read, and may be
 * written; if a slow server stores it after all, the thread's seq refuses one of the two, and the next lookup
 * finds which.
 */
type CommitFate = Appended | { readonly kind: 'absent' }

export type ReadCommitFate = (commit: PlannedCommit) => Promise<CommitFate>

/** Looks a commit up by its rows, which are all stored or none. `schema` is quoted. */
export function createFateReader(run: RunStatement, schema: string): ReadCommitFate {
  const statement = fateStatement(schema)
  return async (commit) => {
    const [found] = await run<FateRow>(statement, fateValues(commit))
    return found === undefined ? { kind: 'absent' } : judgeFate(commit, found)
  }
}

/** The thread's current row, and how much of the commit is stored. */
interface FateRow {
  readonly incarnation: string
  readonly seq: number
  readonly fence: number
  readonly holder: string | null
  readonly turn: string | null
  readonly isStopping: boolean
  /** How many rows are stored as they were planned. */
  readonly same: number
}

function judgeFate({ append, size }: PlannedCommit, found: FateRow): CommitFate {
  const { lease, expectedSeq = 0, incarnation: plannedOn = '' } = append
  const { incarnation, seq, fence, holder } = found
  // Stored or not, its thread is gone: the one that has its id now refuses it.
  if (isAnother(plannedOn, incarnation)) return { kind: 'absent' }
  const isOurs = lease?.kind === 'acquire' && holder === toPlainText(lease.holder)
  const stopRequested = lease?.kind === 'hold' && lease.fence === fence && found.isStopping
  const end = size === 0 ? seq : expectedSeq + size
  const stored = (own: number): Appended =>
    appendedAt({ seq: end, fence: own, incarnation }, stopRequested, size, lease)
  if (size === 0) {
    // A renewal may be written twice. A lease that was acquired or released need not be written again.
    const isReleased = lease?.kind === 'release' && holder === null && lease.fence === fence
    const isAcquired = isOurs && lease.turnId === found.turn && lease.overFence !== fence
    return isReleased || isAcquired ? stored(fence) : { kind: 'absent' }
  }
  if (seq < expectedSeq + size) return { kind: 'absent' }
  // Not stored, or replaced by a later snapshot of its turn: either way the thread's seq refuses it, and its
  // writer reads again.
  if (found.same === 0) return { kind: 'absent' }
  if (lease?.kind !== 'acquire') return stored(lease?.fence ?? fence)
  // Stored, and taken over since: the fence it was stored under is unknown. The thread's seq refuses it as
  // stale, too.
  return isOurs && lease.turnId === found.turn ? stored(fence) : { kind: 'absent' }
}

const fateStatement = (schema: string): Statement =>
  toCompactStatement(
    'commit-fate',
    `SELECT t.incarnation, t.seq, t.fence, t.lease_holder AS holder, t.lease_turn AS turn,
      coalesce(t.stop_fence = t.fence, false) AS "isStopping",
      (SELECT count(*) FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS b(seq, at, payload)
        JOIN ${schema}.events AS e ON e.thread_id = t.id AND e.seq = b.seq AND e.at = b.at AND e.payload = b.payload)
      + (SELECT count(*) FROM unnest($5::text[], $6::bigint[], $7::text[])
          AS s(message_id, body_seq, body)
        JOIN ${schema}.messages AS m ON m.thread_id = t.id AND m.message_id = s.message_id AND m.body_seq = s.body_seq
          AND m.body = s.body)
      + (SELECT count(*) FROM unnest($8::bigint[], $9::text[], $10::bigint[]) AS n(seq, id, at)
        JOIN ${schema}.messages AS m ON m.thread_id = t.id AND m.seq = n.seq
          AND m.message_id = n.id AND m.created_at = n.at) AS same
    FROM ${schema}.threads AS t WHERE t.id = $1`,
  )

function fateValues({ append, batches, newMessages, changedMessages }: PlannedCommit) {
  const bodies = changedMessages.filter(({ snapshot }) => snapshot !== null)
  return [
    append.threadId,
    batches.map(({ seq }) => seq),
    batches.map(({ at }) => at),
    batches.map(({ payload }) => payload),
    bodies.map(({ id }) => id),
    bodies.map(({ snapshot }) => snapshot?.seq),
    bodies.map(({ snapshot }) => snapshot?.body),
    newMessages.map(({ seq }) => seq),
    newMessages.map(({ id }) => id),
    newMessages.map(({ at }) => at),
  ]
}
