/** `schema` is quoted. In each scan, $1 is one thread, or null for all. */
export function createAuditSql(schema: string) {
  const ofThread = (table: string) => `WHERE ($1::text IS NULL OR ${table} = $1)`
  return {
    scans: {
      threads: `SELECT id AS key, seq, lease_turn AS "turnId",
          coalesce(lease_until > clock_timestamp(), false) AS "isHeld"
        FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
      messages: `SELECT m.thread_id AS key, m.seq, m.message_id AS "messageId", m.role, m.status,
          m.body, m.body_seq AS "bodySeq", m.created_at AS "createdAt",
          NOT m.is_sealed AS "isOpen"
        FROM ${schema}.messages m ${ofThread('m.thread_id')} ORDER BY m.thread_id, m.seq`,
      events: `SELECT e.thread_id AS key, e.seq, e.size, e.commit_seq AS "commitSeq", e.at,
          e.payload, e.message_id IS NOT NULL AS "ofTurn",
          m.message_id AS "turnId", m.seq AS "turnSeq", m.body_seq AS "bodySeq"
        FROM ${schema}.events e LEFT JOIN ${schema}.messages m ON m.thread_id = e.thread_id
          AND m.message_id = e.message_id AND m.role = 'assistant'
        ${ofThread('e.thread_id')} ORDER BY e.thread_id, e.seq - e.size, e.seq`,
      calls: `SELECT c.thread_id AS key, c.call_id AS "callId", c.name, c.life, c.input, c.output,
          c.model_output AS "modelOutput", m.seq AS "turnSeq"
        FROM ${schema}.calls c LEFT JOIN ${schema}.messages m ON m.thread_id = c.thread_id
          AND m.message_id = c.message_id AND m.role = 'assistant'
        ${ofThread('c.thread_id')} ORDER BY c.thread_id, m.seq NULLS LAST, c.seq`,
      list: `SELECT id, owner_id AS "ownerId", title, created_at AS "createdAt",
          updated_at AS "updatedAt", seq, activity
        FROM ${schema}.threads ${ofThread('id')} ORDER BY id`,
    },
    findTurns: statement(
      'find-turns',
      `SELECT message_id AS "turnId", thread_id AS "threadId" FROM ${schema}.messages
       WHERE role = 'assistant' AND message_id = ANY ($1)`,
    ),
    lockThread: statement(
      'lock-thread',
      `SELECT seq FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
    ),
    setSeq: statement('set-seq', `UPDATE ${schema}.threads SET seq = $2 WHERE id = $1`),
    lastCall: statement(
      'last-call',
      `SELECT coalesce(max(seq), $3::bigint) AS seq FROM ${schema}.calls
       WHERE thread_id = $1 AND message_id = $2`,
    ),
    /** The row that the fact of a seq is in: of several, the one that ends first. */
    readBatch: statement(
      'read-batch',
      `SELECT row_to_json(t)::text AS row FROM ${schema}.events t
       WHERE t.thread_id = $1 AND t.seq >= $2 AND t.seq - t.size < $2 ORDER BY t.seq LIMIT 1`,
    ),
    /** Where another row has its number already, one of the two was to be removed in any case. */
    addFact: statement(
      'add-fact',
      `INSERT INTO ${schema}.events
       SELECT * FROM json_populate_record(NULL::${schema}.events, $1::json) ON CONFLICT DO NOTHING`,
    ),
    rows: {
      messages: rowStatements(schema, 'messages', 'seq'),
      events: rowStatements(schema, 'events', 'seq'),
      calls: rowStatements(schema, 'calls', 'call_id'),
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
       VALUES ($1, $2, $3, $4, $5)`,
    ),
  }
}
export type AuditSql = ReturnType<typeof createAuditSql>
export type LedgerTable = keyof AuditSql['rows']

/** Changed rows are taken out and put in again: what the tables refuse is refused to updates. */
function rowStatements(schema: string, table: string, key: 'seq' | 'call_id') {
  const from = `FROM ${schema}.${table} t WHERE t.thread_id = $1 AND t.${key} = $2`
  return {
    read: statement(`read-${table}-row`, `SELECT row_to_json(t)::text AS row ${from}`),
    remove: statement(`remove-${table}-row`, `DELETE ${from}`),
    insert: statement(
      `insert-${table}-row`,
      `INSERT INTO ${schema}.${table}
       SELECT * FROM json_populate_record(NULL::${schema}.${table}, $1::json)`,
    ),
    readAll: statement(
      `read-${table}-rows`,
      `SELECT row_to_json(t)::text AS row FROM ${schema}.${table} t WHERE t.thread_id = $1`,
    ),
    removeAll: statement(
      `remove-${table}-rows`,
      `DELETE FROM ${schema}.${table} WHERE thread_id = $1`,
    ),
  }
}

const statement = (name: string, text: string) => ({
  name: `holdfast-audit-${name}`,
  text: text.replaceAll(/\s+/g, ' '),
})
