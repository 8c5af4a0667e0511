import type { Appended } from '../lease.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import { toPlainText } from './plain-text.ts'
import type { RunStatement, Statement } from './statement.ts'

/**
 * What became of a commit whose answer was lost. `absent`: it is not to be seen, and may be written. Should it be
 * stored after all by a server that is only slow, the thread's seq refuses one of the two, and whoever is refused
 * looks again.
 */
export type CommitFate = Appended | { readonly kind: 'absent' }

export type ReadCommitFate = (commit: PlannedCommit) => Promise<CommitFate>

/** Reads it from the rows: those of a commit are there together or not at all. `schema` is quoted. */
export function createFateReader(run: RunStatement, schema: string): ReadCommitFate {
  const statement = fateStatement(schema)
  return async (commit) => {
    const [found] = await run<FateRow>(statement, fateValues(commit))
    return found === undefined ? { kind: 'absent' } : judgeFate(commit, found)
  }
}

/** The thread as it is now, and what of the commit is found in it. */
interface FateRow {
  readonly seq: number
  readonly fence: number
  readonly holder: string | null
  readonly turn: string | null
  readonly isStopping: boolean
  /** Rows that are there as they were planned. */
  readonly same: number
}

function judgeFate({ append, size }: PlannedCommit, found: FateRow): CommitFate {
  const { lease, expectedSeq = 0 } = append
  const { seq, fence, holder } = found
  const isOurs = lease?.kind === 'acquire' && holder === toPlainText(lease.holder)
  const stored = (own: number): Appended => ({
    kind: 'appended',
    firstSeq: expectedSeq + 1,
    seq: size === 0 ? seq : expectedSeq + size,
    ...(lease === undefined ? {} : { fence: own }),
    stopRequested: lease?.kind === 'hold' && lease.fence === fence && found.isStopping,
  })
  if (size === 0) {
    // A renewal may be made twice. One who has the lease, or has given it back, need not do it again.
    const isReleased = lease?.kind === 'release' && holder === null && lease.fence === fence
    const isAcquired = isOurs && lease.turnId === found.turn && lease.overFence !== fence
    return isReleased || isAcquired ? stored(fence) : { kind: 'absent' }
  }
  if (seq < expectedSeq + size) return { kind: 'absent' }
  // Not there, or covered by a later snapshot of its turn: the thread's seq refuses it either way, and its writer reads anew.
  if (found.same === 0) return { kind: 'absent' }
  if (lease?.kind !== 'acquire') return stored(lease?.fence ?? fence)
  // Stored, and taken over since: under which number it was stored, nobody can tell. It is refused as stale, too.
  return isOurs && lease.turnId === found.turn ? stored(fence) : { kind: 'absent' }
}

const fateStatement = (schema: string): Statement => ({
  name: 'holdfast-commit-fate',
  text: `
    SELECT t.seq, t.fence, t.lease_holder AS holder, t.lease_turn AS turn,
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
    FROM ${schema}.threads AS t WHERE t.id = $1`.replaceAll(/\s+/g, ' '),
})

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
