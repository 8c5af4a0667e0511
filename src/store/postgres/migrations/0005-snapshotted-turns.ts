import type { Migration } from './migration.ts'

/**
 * Adds whether a turn is complete in its body: then its events need not be looked up. Deleted events stay in the index
 * until the table is vacuumed, and a page must not scan them. Open turns are at the end of their thread, so their events
 * are found by seq and need no other index.
 *
 * Of two indexes that begin with the thread, a planner that has seen only a small table may choose the one that is
 * selective for the thread alone, and keep it in a cached plan. The conditions here are always true; they keep an index from
 * being used by statements that do not order by its columns.
 *
 * Versions 2 to 4 contained functions only.
 */
export const snapshottedTurns: Migration = {
  version: 5,
  toSql: (schema) => `
ALTER TABLE ${schema}.messages ADD COLUMN is_sealed boolean NOT NULL DEFAULT false;
UPDATE ${schema}.messages AS m SET is_sealed = true WHERE m.body IS NOT NULL AND NOT EXISTS (
  SELECT FROM ${schema}.events AS e
  WHERE e.thread_id = m.thread_id AND e.message_id = m.message_id);
ALTER TABLE ${schema}.messages ADD CHECK (NOT is_sealed OR body IS NOT NULL);
DROP INDEX ${schema}.events_by_message;
DROP INDEX ${schema}.calls_by_message;
CREATE INDEX calls_by_message ON ${schema}.calls (thread_id, message_id, seq)
  WHERE message_id IS NOT NULL;
DROP INDEX ${schema}.messages_by_body;
CREATE INDEX messages_by_body ON ${schema}.messages (thread_id, body_seq)
  WHERE body_seq IS NOT NULL;
`,
}
