import type { MessageId } from '../../core/ids.ts'
import type { Append, AppendResult } from '../store.ts'
import type { PlannedAppend } from './encode-appends.ts'
import type { RunStatement, Statement } from './statement.ts'

/**
 * The short way, at less than half the cost, for what most commits are while an answer streams: some
 * facts more for one running turn. All of the append or nothing; undefined means that this way is
 * closed, and the long way does it or says why it is refused.
 */
export async function appendToTurn(
  run: RunStatement,
  schema: string,
  { append, plan }: PlannedAppend,
): Promise<AppendResult | undefined> {
  const turnId = findRunningTurn({ append, plan })
  if (turnId === undefined) return undefined
  const { threadId, lease, expectedSeq } = append
  const { rows, size } = plan
  const fence = lease?.kind === 'hold' ? lease.fence : undefined
  const renewMs = lease?.kind === 'hold' ? lease.renewMs : undefined
  const isSingle = rows.length === 1

  const statement = toStatement(schema, {
    isSingle,
    isHeld: fence !== undefined,
    isRenewed: renewMs !== undefined,
    isExpected: expectedSeq !== undefined,
  })
  const [row] = await run<{ seq: number; stopping: boolean | null }>(statement, [
    threadId,
    turnId,
    size,
    isSingle ? rows[0]?.at : rows.map(({ at }) => at),
    rows.map(({ payload }) => payload).join('\n'),
    ...[fence, renewMs, expectedSeq].filter((value) => value !== undefined),
  ])
  if (row === undefined) return undefined
  return {
    kind: 'appended',
    firstSeq: row.seq - size + 1,
    seq: row.seq,
    ...(fence === undefined ? {} : { fence }),
    stopRequested: row.stopping === true,
  }
}

/** The one turn that the append is about, if all it needs is that this turn is running. */
function findRunningTurn({ append, plan }: PlannedAppend): MessageId | undefined {
  const [turn, ...others] = plan.turns
  if (turn === undefined || others.length > 0 || !isPlain(append)) return undefined
  const isOther =
    plan.messages.length > 0 ||
    plan.calls.size > 0 ||
    plan.retired.length > 0 ||
    plan.title !== null ||
    plan.activityAt !== null
  const [id, { paths }] = turn
  const staysRunning = paths.size === 1 && paths.get('running') === 'running'
  return staysRunning && !isOther ? id : undefined
}

const isPlain = ({ lease, seal = [] }: Append): boolean =>
  seal.length === 0 && (lease === undefined || lease.kind === 'hold')

interface Shape {
  readonly isSingle: boolean
  readonly isHeld: boolean
  readonly isRenewed: boolean
  readonly isExpected: boolean
}

/**
 * One statement sees the turn as it was before it had to wait for the thread's row. So it also wants
 * the seq that it saw then: whoever changes a turn changes that too, and nothing is written here.
 */
function toStatement(schema: string, shape: Shape): Statement {
  let used = 5
  const next = () => `$${++used}`
  const held = shape.isHeld ? `AND fence = ${next()} AND lease_holder IS NOT NULL` : ''
  const renewed = shape.isRenewed
    ? `, lease_until = clock_timestamp() + ${next()}::bigint * interval '1 millisecond'`
    : ''
  const expected = shape.isExpected ? `AND seq = ${next()}` : ''
  const facts = shape.isSingle
    ? '(SELECT $4::bigint, $5::text, 1) AS f(at, payload, place)'
    : `unnest($4::bigint[], string_to_array($5::text, chr(10)))
         WITH ORDINALITY AS f(at, payload, place)`
  return {
    name: `holdfast-append-to-turn-${Object.values(shape).map(Number).join('')}`,
    text: `WITH moved AS (
      UPDATE ${schema}.threads SET seq = seq + $3::bigint ${renewed}
      WHERE id = $1 ${held} ${expected}
        AND seq = (SELECT seq FROM ${schema}.threads WHERE id = $1)
        AND EXISTS (SELECT FROM ${schema}.messages
          WHERE thread_id = $1 AND message_id = $2 AND status = 'running')
      RETURNING seq, lease_holder IS NOT NULL AND stop_fence = fence AS stopping
    ), added AS (
      INSERT INTO ${schema}.events (thread_id, seq, commit_seq, message_id, at, payload)
      SELECT $1, seq - $3::bigint + f.place, seq, $2, f.at, f.payload
      FROM moved CROSS JOIN ${facts}
    ) SELECT seq, stopping FROM moved`,
  }
}
