import type { Statement } from './statement.ts'

/** What a statement of `appendToTurn` has to do; each of its texts is prepared once per connection. */
export interface AppendShape {
  readonly hasCalls: boolean
  /** One event and no calls. */
  readonly isSingle: boolean
  readonly isHeld: boolean
  readonly isRenewed: boolean
  readonly isExpected: boolean
}

/**
 * Values: thread, turn, statuses, size, texts, times; of calls also their ids by event, and what is
 * planned for them; then fence, renewal and expected seq, where there are any.
 *
 * One statement sees all as it was before it had to wait for the thread's row. So it also wants the
 * seq that it saw then: whoever changes a turn or a call changes that too, and nothing is written.
 */
export function toAppendStatement(schema: string, shape: AppendShape): Statement {
  const { hasCalls, isSingle, isHeld, isRenewed, isExpected } = shape
  let used = hasCalls ? 8 : 6
  const next = () => `$${++used}`
  const held = isHeld ? `AND fence = ${next()} AND lease_holder IS NOT NULL` : ''
  const renewed = isRenewed
    ? `, lease_until = clock_timestamp() + ${next()}::bigint * interval '1 millisecond'`
    : ''
  const expected = isExpected ? `AND seq = ${next()}` : ''
  const calls = hasCalls ? toCallSteps(schema) : { planned: '', isLegal: '', written: '' }
  return {
    name: `holdfast-append-to-turn-${Object.values(shape).map(Number).join('')}`,
    text: `WITH ${calls.planned} moved AS (
      UPDATE ${schema}.threads SET seq = seq + $4::bigint ${renewed}
      WHERE id = $1 ${held} ${expected} ${calls.isLegal}
        AND seq = (SELECT seq FROM ${schema}.threads WHERE id = $1)
        AND EXISTS (SELECT FROM ${schema}.messages
          WHERE thread_id = $1 AND message_id = $2 AND status = ANY ($3))
      RETURNING seq, lease_holder IS NOT NULL AND stop_fence = fence AS stopping
    ), ${calls.written} added AS (
      INSERT INTO ${schema}.events
        (thread_id, seq, commit_seq, message_id, at, payload, call_id)
      SELECT $1, seq - $4::bigint + e.place, seq, $2, e.at, e.payload, e.call_id
      FROM moved CROSS JOIN ${isSingle ? oneEvent : hasCalls ? eventsWithCalls : manyEvents}
      WHERE e.place <= $4::bigint
    ) SELECT seq, stopping FROM moved`,
  }
}

const lines = 'string_to_array($5::text, chr(10))'
const oneEvent = '(SELECT $6::bigint, $5::text, NULL, 1) AS e(at, payload, call_id, place)'
const manyEvents = `(SELECT at, payload, NULL, place FROM unnest($6::bigint[], ${lines})
  WITH ORDINALITY AS u(at, payload, place)) AS e(at, payload, call_id, place)`
const eventsWithCalls = `unnest($6::bigint[], ${lines}, $7::text[])
  WITH ORDINALITY AS e(at, payload, call_id, place)`

function toCallSteps(schema: string) {
  return {
    planned: `planned AS MATERIALIZED (
      SELECT c.*, known.message_id, coalesce(c.name, known.name, '') AS full_name,
        c.paths ->> coalesce(known.life, 'absent') AS life
      FROM json_to_recordset($8::json) AS c(
        id text, place integer, paths json, name text,
        input integer, output integer, model integer)
      LEFT JOIN LATERAL (
        SELECT life, name, message_id FROM ${schema}.calls
        WHERE thread_id = $1 AND call_id = c.id OFFSET 0) AS known ON true
    ),`,
    isLegal: 'AND NOT EXISTS (SELECT FROM planned WHERE life IS NULL OR message_id <> $2)',
    written: `called AS (
      INSERT INTO ${schema}.calls AS stored
        (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
      SELECT $1, p.id, $2, seq - $4::bigint + p.place, p.full_name, p.life,
        t.texts[p.input], t.texts[p.output], t.texts[p.model]
      FROM moved CROSS JOIN planned AS p
      CROSS JOIN (SELECT ${lines} AS texts OFFSET 0) AS t
      ON CONFLICT (thread_id, call_id) DO UPDATE SET
        name = excluded.name,
        life = excluded.life,
        input = coalesce(excluded.input, stored.input),
        output = coalesce(excluded.output, stored.output),
        model_output = coalesce(excluded.model_output, stored.model_output)
    ),`,
  }
}
