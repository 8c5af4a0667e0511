import type { LedgerTable } from '../plan-repair.ts'

/** `?` is the number of one thread, or null for all. Not `?1` twice: Node 22.13 cannot bind numbered ones. */
const ofThread = (table: string) => `WHERE ${table}.thread = ifnull(?, ${table}.thread)`

export const auditSql = {
  scans: {
    threads: `SELECT thread AS key, id AS threadId, owner_id AS ownerId, seq, lease_holder AS holder,
      lease_turn AS turnId, lease_until AS until FROM threads ${ofThread('threads')} ORDER BY thread`,
    messages: `SELECT thread AS key, seq, message_id AS messageId, role, status,
      NOT is_sealed AS isOpen, retired_seq IS NOT NULL AS isRetired, body, body_seq AS bodySeq,
      created_at AS createdAt
      FROM messages ${ofThread('messages')} ORDER BY thread, seq`,
    events: `SELECT e.thread AS key, e.seq, e.size, e.commit_seq AS commitSeq, e.at, e.payload,
      e.turn IS NOT NULL AS ofTurn, m.message_id AS turnId, m.seq AS turnSeq, m.body_seq AS bodySeq
      FROM events e LEFT JOIN messages m
        ON m.thread = e.thread AND m.seq = e.turn AND m.role = 'assistant'
      ${ofThread('e')} ORDER BY e.thread, e.seq - e.size, e.seq`,
    calls: `SELECT thread AS key, call_id AS callId, turn AS turnSeq, name, life, input, output,
      model_output AS modelOutput FROM calls ${ofThread('calls')} ORDER BY thread, turn, seq`,
  },
  listThreads: `SELECT id, owner_id AS ownerId, title, metadata, created_at AS createdAt,
    updated_at AS updatedAt, seq, activity,
    forked_from AS forkedFrom FROM threads ORDER BY thread`,
  findTurns: `SELECT m.message_id AS turnId, t.id AS threadId FROM messages m
    JOIN threads t ON t.thread = m.thread
    WHERE m.role = 'assistant' AND m.message_id IN (SELECT value FROM json_each(?))`,

  findSharedTurns: `SELECT m.message_id AS turnId, t.id AS threadId FROM messages m
    JOIN threads t ON t.thread = m.thread
    WHERE m.role = 'assistant' AND m.message_id IN (
      SELECT message_id FROM messages WHERE role = 'assistant'
      GROUP BY message_id HAVING count(*) > 1)
    ORDER BY m.message_id, m.status = 'running' OR m.retired_seq IS NOT NULL DESC, m.created_at,
      m.thread, m.seq`,

  readByKey: (table: LedgerTable, key: string) =>
    `SELECT * FROM ${table} WHERE thread = ? AND ${key} IN (SELECT value FROM json_each(?))`,
  /** Every row that has a number from the first to the last. */
  readEvents: 'SELECT * FROM events WHERE thread = ? AND seq >= ? AND seq - size < ?',
  /** Of an event, a number that another row has stays that row's. Whatever else is refused is a fault. */
  insert: (table: LedgerTable, columns: readonly string[]) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ${table === 'events' ? 'ON CONFLICT (thread, seq) DO NOTHING' : ''}`,

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
