/** `?` is the number of one thread, or null for all. Not `?1` twice: Node 22.13 cannot bind numbered ones. */
const ofThread = (table: string) => `WHERE ${table}.thread = ifnull(?, ${table}.thread)`

export const auditSql = {
  threads: `SELECT thread AS key, id AS threadId, seq, lease_holder AS holder,
    lease_turn AS turnId, lease_until AS until FROM threads ${ofThread('threads')} ORDER BY thread`,
  messages: `SELECT thread AS key, seq, message_id AS messageId, role, status,
    is_sealed AS isSealed, body, body_seq AS bodySeq, created_at AS createdAt
    FROM messages ${ofThread('messages')} ORDER BY thread, seq`,
  events: `SELECT e.thread AS key, e.seq, e.size, e.commit_seq AS commitSeq, e.turn AS turnSeq,
    e.at, e.payload, m.message_id AS turnId, m.body_seq AS bodySeq
    FROM events e LEFT JOIN messages m
      ON m.thread = e.thread AND m.seq = e.turn AND m.role = 'assistant'
    ${ofThread('e')} ORDER BY e.thread, e.seq`,
  calls: `SELECT thread AS key, call_id AS callId, turn AS turnSeq, name, life, input, output,
    model_output AS modelOutput FROM calls ${ofThread('calls')} ORDER BY thread, turn, seq`,

  listThreads: `SELECT id, owner_id AS ownerId, title, created_at AS createdAt,
    updated_at AS updatedAt, seq, activity FROM threads ORDER BY thread`,
  findTurns: `SELECT m.message_id AS turnId, t.id AS threadId FROM messages m
    JOIN threads t ON t.thread = m.thread
    WHERE m.role = 'assistant' AND m.message_id IN (SELECT value FROM json_each(?))`,
  readThread: 'SELECT thread, seq FROM threads WHERE id = ?',

  /** The batch that a fact is in, if any is: the first that does not end before it. */
  readPackOf: 'SELECT * FROM events WHERE thread = ? AND seq >= ? ORDER BY seq LIMIT 1',
  /** What has its number already stays: the batch as it was is in the record. */
  putFact: `INSERT OR IGNORE INTO events (thread, seq, size, commit_seq, turn, at, payload)
    VALUES (?, ?, 1, ?, ?, ?, ?)`,

  // The record is made when there is first something to record, and goes with its thread.
  createRecord: `CREATE TABLE IF NOT EXISTS repairs (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, thread_id TEXT NOT NULL,
      problem TEXT NOT NULL, note TEXT NOT NULL, row_before TEXT
    ) STRICT;
    CREATE TRIGGER IF NOT EXISTS repairs_go_with_their_thread AFTER DELETE ON threads
    BEGIN DELETE FROM repairs WHERE thread_id = OLD.id; END`,
  record: `INSERT INTO repairs (at, thread_id, problem, note, row_before)
    VALUES (?, ?, ?, ?, ?)`,
} as const

export type LedgerTable = 'messages' | 'events' | 'calls'

/** Changed rows are taken out and put in again: what the tables refuse is refused to updates. */
export const rowSql = {
  messages: {
    read: 'SELECT * FROM messages WHERE thread = ? AND seq = ?',
    remove: 'DELETE FROM messages WHERE thread = ? AND seq = ?',
  },
  events: {
    read: 'SELECT * FROM events WHERE thread = ? AND seq = ?',
    remove: 'DELETE FROM events WHERE thread = ? AND seq = ?',
  },
  calls: {
    read: 'SELECT * FROM calls WHERE thread = ? AND call_id = ?',
    remove: 'DELETE FROM calls WHERE thread = ? AND call_id = ?',
  },
} as const satisfies Record<LedgerTable, { readonly read: string; readonly remove: string }>
