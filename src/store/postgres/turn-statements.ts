/**
 * A turn begins, with the messages and facts that it begins with, in one statement and not by a function:
 * see `appendPack`. No row comes back where this way is closed; then nothing was written.
 *
 * Values: thread, owner, active at, size, lease's holder, turn and milliseconds; of each message its id,
 * place, role, status, body and time; of each pack its place, size, turn, time and lines. Then, of a thread
 * that is made here, its title and when.
 */
export const beginThread = (schema: string): string =>
  `WITH begun AS (
     INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at, seq, activity, fence,
       lease_holder, lease_turn, lease_until)
     VALUES ($1, $2, $19, $20, $3, $4, nextval('${schema}.activity'), nextval('${schema}.activity'),
       $5, $6, ${until})
     ON CONFLICT DO NOTHING RETURNING seq, fence
   ), ${saidAndAdded(schema)} SELECT seq AS reached, fence FROM begun`

/** The same in a thread that is there. The last values: expected seq, and the fence to take over. */
export const beginTurn = (schema: string): string =>
  `WITH begun AS (
     UPDATE ${schema}.threads SET seq = seq + $4, activity = nextval('${schema}.activity'),
       updated_at = $3, fence = greatest(fence + 1, nextval('${schema}.activity')), stop_fence = NULL,
       lease_holder = $5, lease_turn = $6, lease_until = ${until}
     WHERE id = $1 AND seq = $19 AND owner_id = coalesce($2, owner_id)
       AND (lease_holder IS NULL OR lease_until <= clock_timestamp() OR fence = $20::bigint)
       AND NOT EXISTS (SELECT FROM ${schema}.messages
         WHERE thread_id = $1 AND message_id = ANY ($8::text[]))
     RETURNING seq, fence
   ), ${saidAndAdded(schema)} SELECT seq AS reached, fence FROM begun`

const until = `clock_timestamp() + $7::bigint * interval '1 millisecond'`

const saidAndAdded = (schema: string) => `said AS (
     INSERT INTO ${schema}.messages (thread_id, seq, message_id, role, status, body, body_seq,
       is_sealed, commit_seq, created_at)
     SELECT $1, begun.seq - $4 + m.place, m.id, m.role, m.status, m.body,
       CASE WHEN m.body IS NOT NULL THEN begun.seq - $4 + m.place END, m.body IS NOT NULL, begun.seq, m.at
     FROM begun CROSS JOIN unnest($8::text[], $9::integer[], $10::text[], $11::text[], $12::text[],
       $13::bigint[]) AS m(id, place, role, status, body, at)
   ), added AS (
     INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload)
     SELECT $1, begun.seq - $4 + e.place, e.size, begun.seq, e.turn, e.at, e.payload
     FROM begun CROSS JOIN unnest($14::integer[], $15::integer[], $16::text[], $17::bigint[],
       $18::text[]) AS e(place, size, turn, at, payload)
   )`

/**
 * The end of the turn of a run that is known: its fold takes the place of its facts, and the lease is
 * given back. HF002 is raised where the turn is not there, or not running.
 *
 * Values: thread, turn, fence, expected seq, size, active at, the turn's place, its body, and the seq of
 * its last fact.
 */
export const endTurn = (schema: string): string =>
  `WITH moved AS (
     UPDATE ${schema}.threads SET seq = seq + $5, activity = nextval('${schema}.activity'),
       updated_at = $6, lease_holder = NULL, lease_turn = NULL, lease_until = NULL
     WHERE id = $1 AND seq = $4 AND fence = $3 AND lease_holder IS NOT NULL
       AND NOT EXISTS (SELECT FROM ${schema}.calls WHERE thread_id = $1 AND message_id = $2
         AND life IN ('streaming', 'awaiting-approval', 'ready', 'running') OFFSET 0)
     RETURNING seq
   ), sealed AS (
     UPDATE ${schema}.messages SET status = 'ended', body = $8, body_seq = $9, is_sealed = true,
       commit_seq = moved.seq
     FROM moved
     WHERE thread_id = $1 AND messages.seq = $7 AND message_id = $2 AND status = 'running'
     RETURNING messages.seq
   ), removed AS (
     DELETE FROM ${schema}.events USING moved
     WHERE thread_id = $1 AND events.seq BETWEEN $7 AND $9 AND message_id = $2
   )
   SELECT seq AS reached,
     CASE WHEN NOT EXISTS (SELECT FROM sealed) THEN ${schema}.close_way() END AS closed
   FROM moved`
