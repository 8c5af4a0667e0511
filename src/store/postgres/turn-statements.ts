/**
 * A new thread with the messages and facts that it begins with, in one statement and not by a function:
 * see `appendPack`. No row comes back where there is such a thread; then nothing was written.
 *
 * Values: thread, owner, title, made at, active at, size, lease's holder, turn and milliseconds; of each
 * message its id, place, role, status, body and time; of each pack its place, size, turn, time and lines.
 */
export const beginThread = (schema: string): string =>
  `WITH made AS (
     INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at, seq, activity, fence,
       lease_holder, lease_turn, lease_until)
     VALUES ($1, $2, $3, $4, $5, $6, nextval('${schema}.activity'), nextval('${schema}.activity'),
       $7, $8, clock_timestamp() + $9::bigint * interval '1 millisecond')
     ON CONFLICT DO NOTHING RETURNING seq, fence
   ), said AS (
     INSERT INTO ${schema}.messages (thread_id, seq, message_id, role, status, body, body_seq,
       is_sealed, commit_seq, created_at)
     SELECT $1, m.place, m.id, m.role, m.status, m.body, CASE WHEN m.body IS NOT NULL THEN m.place END,
       m.body IS NOT NULL, made.seq, m.at
     FROM made CROSS JOIN unnest($10::text[], $11::bigint[], $12::text[], $13::text[], $14::text[],
       $15::bigint[]) AS m(id, place, role, status, body, at)
   ), added AS (
     INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload)
     SELECT $1, e.place, e.size, made.seq, e.turn, e.at, e.payload
     FROM made CROSS JOIN unnest($16::bigint[], $17::integer[], $18::text[], $19::bigint[],
       $20::text[]) AS e(place, size, turn, at, payload)
   ) SELECT fence FROM made`

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
