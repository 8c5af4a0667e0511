import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { SteadyClock } from '../steady-clock.ts'
import type { RunToStop } from '../lease.ts'
import type { AbandonedRun, StopRequest } from '../store.ts'
import { isOutOfReach } from './postgres-error.ts'
import { ofKnown, type RunStatement, toStatement } from './statement.ts'

/**
 * The rule of `isHeld` in SQL: whether the lease in a row of `threads` binds, by the database's clock as far as it is
 * believed.
 * @param latest a `bigint` in SQL: see `SteadyClock`
 */
export const leaseHeld = (latest: string): string =>
  `coalesce(lease_until > least(clock_timestamp(), to_timestamp(${latest} / 1000.0)), false)`

/** What the database's clock shows, in milliseconds. */
export const clockTime = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The verbs on the leases of threads; the lease itself is taken, renewed and released by commits. */
export function createLeaseVerbs(run: RunStatement, schema: string, clock: SteadyClock) {
  const statements = createLeaseStatements(schema)
  return {
    async requestStop(
      id: ThreadId,
      { turnId: only, incarnation }: RunToStop = {},
    ): Promise<StopRequest & { readonly seq?: Seq }> {
      const [row] = await run<StopRow>(statements.requestStop, [
        ...[id, only ?? null, incarnation ?? null],
      ])
      if (row === undefined) return { kind: 'no-thread' }
      const { turnId, fence, seq } = row
      return turnId === null ? { kind: 'idle' } : { kind: 'requested', turnId, fence, seq }
    },

    async findAbandonedRuns(limit: number, only?: ThreadId): Promise<readonly AbandonedRun[]> {
      const latest = clock.latest()
      const asked =
        only === undefined
          ? // Runs every second in each server, on an index that contains only threads with runs.
            run<AbandonedRow>(statements.findAbandonedRuns, [limit, latest])
          : run<AbandonedRow>(statements.findAbandonedRun, [only, latest])
      const rows = await asked.catch((error: unknown) => {
        if (isOutOfReach(error)) clock.lost()
        throw error
      })
      if (rows[0] !== undefined) clock.saw(rows[0].clock)
      return rows.flatMap(({ clock: _, ...found }) => (found.threadId === null ? [] : [found]))
    },
  }
}

/** Without a run, one row with the clock alone. */
type AbandonedRow = { readonly clock: number } & (AbandonedRun | { readonly threadId: null })

interface StopRow {
  readonly turnId: MessageId | null
  readonly fence: number
  readonly seq: Seq
}

/** `schema` is quoted. */
export const createLeaseStatements = (schema: string) => ({
  requestStop: toStatement(
    'request-stop',
    `WITH stopped AS (
       UPDATE ${schema}.threads SET stop_fence = fence
       WHERE id = $1 AND lease_holder IS NOT NULL AND ($2::text IS NULL OR lease_turn = $2)
         AND ${ofKnown('incarnation', '$3')}
       RETURNING id, lease_turn, fence, seq
     )
     SELECT s.lease_turn AS "turnId", s.fence, s.seq
     FROM ${schema}.threads t LEFT JOIN stopped s ON true WHERE t.id = $1`,
  ),
  findAbandonedRuns: toStatement(
    'find-abandoned-runs',
    withClock(`SELECT id AS "threadId", lease_turn AS "turnId", lease_holder AS holder, fence
       FROM ${schema}.threads
       WHERE lease_holder IS NOT NULL AND NOT ${leaseHeld('$2::bigint')}
       ORDER BY lease_until LIMIT $1`),
  ),
  findAbandonedRun: toStatement(
    'find-abandoned-run',
    withClock(`SELECT id AS "threadId", lease_turn AS "turnId", lease_holder AS holder, fence
       FROM ${schema}.threads
       WHERE id = $1 AND lease_holder IS NOT NULL AND NOT ${leaseHeld('$2::bigint')}`),
  ),
})

const withClock = (query: string) =>
  `SELECT c.clock, r.* FROM (SELECT ${clockTime} AS clock) AS c LEFT JOIN LATERAL (${query}) AS r ON true`
