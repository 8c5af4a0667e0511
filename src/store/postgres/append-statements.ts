/**
 * More facts of a turn that goes on, in one statement: no row comes back, or HF002 is raised, where
 * this way is closed; then nothing was written. Not a function: that would run one statement for each
 * table, and each takes as long to begin as to write a few rows. `schema` is quoted.
 *
 * Values: thread, turn, fence, expected seq, and the pack: how many facts, their time, their lines.
 * Then, where nothing is known of the turn: renewal, and the statuses that it may be in.
 */
export const appendPack = (schema: string): string =>
  `WITH ${moved(schema)}, ${added(schema)} SELECT seq AS reached, stopping FROM moved`

/** Of a run that is known, with calls that are new and get no row yet. One more value: their ids. */
export const appendFresh = (schema: string): string =>
  `WITH ${movedOn(
    schema,
    `AND NOT EXISTS (SELECT FROM ${schema}.calls
       WHERE thread_id = $1 AND call_id = ANY ($8::text[]))`,
  )}, ${added(schema)} SELECT seq AS reached, stopping FROM moved`

/**
 * The same, with calls that get their rows. More values: their ids, places, lives and names; and three
 * lists of JSON texts, with a control character between them that no such text has.
 */
export const appendRows = (schema: string): string =>
  `WITH ${movedOn(schema)}, written AS (
     INSERT INTO ${schema}.calls
       (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
     SELECT $1, c.id, $2, moved.seq - $5 + c.place, c.name, c.life, c.input, c.output, c.model
     FROM moved CROSS JOIN unnest($8::text[], $9::integer[], $10::text[], $11::text[],
       ${texts('$12')}, ${texts('$13')}, ${texts('$14')})
       AS c(id, place, life, name, input, output, model)
   ), ${added(schema)} SELECT seq AS reached, stopping FROM moved`

/**
 * More facts of a turn, with calls that may have rows. More values: their ids, for each the lives it may
 * be found in (as words in spaces, one of them `absent`), and the rest as above.
 *
 * By way of the conflict each call is a probe of the primary key, whatever the planner guesses. A turn that
 * somebody runs may have calls without rows: only the run may write about its calls in this way.
 */
export const appendToTurn = (schema: string): string => {
  const knownOf = (id: string) => `($11::text[])[array_position($10::text[], ${id})]`
  const isNobodys = 'AND ($3::bigint IS NOT NULL OR lease_turn IS DISTINCT FROM $2)'
  return `WITH ${moved(schema, isNobodys)}, written AS (
     INSERT INTO ${schema}.calls AS stored
       (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
     SELECT $1, c.id, $2, moved.seq - $5 + c.place, coalesce(c.name, ''), c.life,
       c.input, c.output, c.model
     FROM moved CROSS JOIN unnest($10::text[], $12::integer[], $13::text[], $14::text[],
       ${texts('$15')}, ${texts('$16')}, ${texts('$17')})
       AS c(id, place, life, name, input, output, model)
     ON CONFLICT (thread_id, call_id) DO UPDATE SET life = excluded.life,
       name = coalesce(nullif(excluded.name, ''), stored.name),
       input = coalesce(excluded.input, stored.input),
       output = excluded.output, model_output = excluded.model_output
     WHERE stored.message_id = $2
       AND strpos(${knownOf('stored.call_id')}, ' ' || stored.life || ' ') > 0
     RETURNING call_id, seq
   ), ${added(schema)}
   SELECT seq AS reached, stopping, CASE WHEN cardinality($10::text[]) > (
     SELECT count(*) FROM written
     WHERE written.seq <= moved.seq - $5 OR strpos(${knownOf('call_id')}, ' absent ') > 0
   ) THEN ${schema}.close_way() END AS closed FROM moved`
}

const texts = (list: string) => `string_to_array(${list}::text, chr(30), '')`

/**
 * One statement sees all as it was before it had to wait for the thread's row. So it also wants the
 * seq that it saw then: whoever changes a turn or a call changes that too, and nothing is written.
 */
const moved = (schema: string, more = '') => `moved AS (
     UPDATE ${schema}.threads SET seq = seq + $5, lease_until = CASE WHEN $8::bigint IS NULL
       THEN lease_until ELSE clock_timestamp() + $8::bigint * interval '1 millisecond' END
     WHERE id = $1 AND seq = coalesce($4::bigint, seq)
       AND ($3::bigint IS NULL OR (fence = $3::bigint AND lease_holder IS NOT NULL))
       AND seq = (SELECT seq FROM ${schema}.threads WHERE id = $1)
       AND EXISTS (SELECT FROM ${schema}.messages
         WHERE thread_id = $1 AND message_id = $2 AND status = ANY ($9)) ${more}
     RETURNING seq, ${isStopping}
   )`

/** As long as a run's last append is the thread's last, its turn is as that append left it. */
const movedOn = (schema: string, more = '') => `moved AS (
     UPDATE ${schema}.threads SET seq = seq + $5
     WHERE id = $1 AND seq = $4 AND fence = $3 AND lease_holder IS NOT NULL ${more}
     RETURNING seq, ${isStopping}
   )`

const isStopping = 'lease_holder IS NOT NULL AND stop_fence = fence AS stopping'

const added = (schema: string) => `added AS (
     INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload)
     SELECT $1, seq, $5, seq, $2, $6, $7 FROM moved
   )`
