import type { Migration } from './migration.ts'

/**
 * Whether a turn is all in its body: then nobody looks for events of it. Those that have been snapshotted
 * leave their traces in the index until the table is cleaned up, and a page must not walk them. Open
 * turns stand at the end of their thread, so their events are found by place and need no other index.
 *
 * Of two indexes that begin with the thread, a planner that has seen only a small table may take the
 * one that tells no more than the thread, and keep to it. The conditions here, which are always true,
 * keep an index away from whoever does not ask for what it is sorted by.
 *
 * Versions 2 to 4 were functions only; these are now written anew with every version.
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
