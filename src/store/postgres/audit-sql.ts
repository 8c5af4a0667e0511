import { type LedgerTable, rowKeys } from '../plan-repair.ts'
import type { Statement } from './statement.ts'

/** `schema` is quoted. In each scan, $1 is one thread, or null for all. */
export function createAuditSql(schema: string) {
  const ofThread = (table: string) => `WHERE ($1::text IS NULL OR ${table} = $1)`
  /** The turn that a row of events or calls names. */
  const joinTurn = (
    row: string,
  ) => `LEFT JOIN ${schema}.messages m ON m.thread_id = ${row}.thread_id
    AND m.message_id = ${row}.message_id AND m.role = 'assistant'`
  return {
    scans: {
      threads: `SELECT id AS key, id AS "threadId", owner_id AS "ownerId", seq, CASE WHEN lease_turn IS NOT NULL THEN
          json_build_object('turnId', lease_turn,
            'isHeld', coalesce(lease_until > clock_timestamp(), false)) END AS lease
        FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
      messages: `SELECT m.thread_id AS key, m.seq, m.message_id AS "messageId", m.role, m.status,
          m.body, m.body_seq AS "bodySeq", m.created_at AS "createdAt",
          NOT m.is_sealed AS "isOpen", m.retired_seq IS NOT NULL AS "isRetired"
        FROM ${schema}.messages m ${ofThread('m.thread_id')} ORDER BY m.thread_id, m.seq`,
      events: `SELECT e.thread_id AS key, e.seq, e.size, e.commit_seq AS "commitSeq", e.at,
          e.payload, e.message_id IS NOT NULL AS "ofTurn",
          m.message_id AS "turnId", m.seq AS "turnSeq", m.body_seq AS "bodySeq"
        FROM ${schema}.events e ${joinTurn('e')}
        ${ofThread('e.thread_id')} ORDER BY e.thread_id, e.seq - e.size, e.seq`,
      calls: `SELECT c.thread_id AS key, c.call_id AS "callId", c.name, c.life, c.input, c.output,
          c.model_output AS "modelOutput", m.seq AS "turnSeq"
        FROM ${schema}.calls c ${joinTurn('c')}
        ${ofThread('c.thread_id')} ORDER BY c.thread_id, m.seq NULLS LAST, c.seq`,
      list: `SELECT id, owner_id AS "ownerId", title, metadata, created_at AS "createdAt",
          updated_at AS "updatedAt", seq, activity, forked_from AS "forkedFrom"
        FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
    },
    findTurns: statement(
      'find-turns',
      `SELECT message_id AS "turnId", thread_id AS "threadId" FROM ${schema}.messages
       WHERE role = 'assistant' AND message_id = ANY ($1)`,
    ),
    findSharedTurns: statement(
      'find-shared-turns',
      `SELECT m.message_id AS "turnId", m.thread_id AS "threadId" FROM ${schema}.messages m
       JOIN ${schema}.threads t ON t.id = m.thread_id
       WHERE m.role = 'assistant' AND m.message_id IN (
         SELECT message_id FROM ${schema}.messages WHERE role = 'assistant'
         GROUP BY message_id HAVING count(*) > 1)
       ORDER BY m.message_id, (m.status = 'running' OR m.retired_seq IS NOT NULL) DESC,
         m.created_at, m.thread_id, m.seq`,
    ),
    lockThread: statement(
      'lock-thread',
      `SELECT seq FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
    ),
    setSeq: statement('set-seq', `UPDATE ${schema}.threads SET seq = $2 WHERE id = $1`),
    /** Every row that has a number from the first to the last, or names one of the turns. */
    readEvents: statement(
      'read-events',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.events t
       WHERE t.thread_id = $1
         AND (t.seq >= $2 AND t.seq - t.size < $3 OR t.message_id = ANY ($4::text[]))`,
    ),
    readCalls: statement(
      'read-calls',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.calls t WHERE t.thread_id = $1
         AND (t.call_id = ANY ($2::text[]) OR t.message_id = ANY ($3::text[]))`,
    ),
    readMessages: statement(
      'read-messages',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.messages t
       WHERE t.thread_id = $1 AND t.seq = ANY ($2::bigint[])`,
    ),
    rows: {
      messages: rowStatements(schema, 'messages', 'bigint'),
      events: rowStatements(schema, 'events', 'bigint'),
      calls: rowStatements(schema, 'calls', 'text'),
    },

    // The record is made when there is first something to record, and goes with its thread.
    findRecord: statement('find-record', `SELECT to_regclass('${schema}.repairs') AS found`),
    createRecord: [
      `CREATE TABLE ${schema}.repairs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL,
        thread_id text COLLATE "C" NOT NULL, problem text NOT NULL, note text NOT NULL,
        row_before text)`,
      `CREATE FUNCTION ${schema}.forget_repairs() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN DELETE FROM ${schema}.repairs WHERE thread_id = OLD.id; RETURN NULL; END $$`,
      `CREATE TRIGGER repairs_go_with_their_thread AFTER DELETE ON ${schema}.threads
       FOR EACH ROW EXECUTE FUNCTION ${schema}.forget_repairs()`,
    ].map((text, index) => statement(`create-record-${index}`, text)),
    record: statement(
      'record',
      `INSERT INTO ${schema}.repairs (at, thread_id, problem, note, row_before)
       SELECT $1::bigint, $2::text, r.* FROM unnest($3::text[], $4::text[], $5::text[]) AS r`,
    ),
  }
}

function rowStatements(schema: string, table: LedgerTable, type: 'bigint' | 'text') {
  const rows = `FROM ${schema}.${table} t WHERE t.thread_id = $1`
  const byKey = `${rows} AND t.${rowKeys[table]} = ANY ($2::${type}[])`
  // Of an event, a number that another row has stays that row's. Whatever else is refused is a fault.
  const onConflict = table === 'events' ? 'ON CONFLICT (thread_id, seq) DO NOTHING' : ''
  return {
    readAll: statement(`read-all-${table}`, `SELECT row_to_json(t)::text AS row ${rows}`),
    remove: statement(`remove-${table}`, `DELETE ${byKey}`),
    insert: statement(
      `insert-${table}`,
      `INSERT INTO ${schema}.${table}
       SELECT * FROM json_populate_recordset(NULL::${schema}.${table}, $1::json) ${onConflict}`,
    ),
  }
}

const statement = (name: string, text: string): Statement => ({
  name: `holdfast-audit-${name}`,
  text: text.replaceAll(/\s+/g, ' '),
})
