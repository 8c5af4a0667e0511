import type { Migration } from './migration.ts'

/**
 * Messages that regenerate and edit replaced can be shown again (VR1): a hidden message has the seq of the
 * message that it followed, and each version of a message has the list of all versions. Until now nothing was
 * ever shown again, so a hidden message followed the last one before it that was not hidden at that time.
 * Messages that an older version hides while it runs beside this one have no parent, and stay hidden.
 */
export const versions: Migration = {
  version: 11,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.messages ADD COLUMN parent_seq bigint, ADD COLUMN versions text;
ALTER TABLE ${schema}.threads ADD COLUMN forked_from text;
UPDATE ${schema}.messages AS m SET parent_seq = coalesce((
  SELECT max(p.seq) FROM ${schema}.messages AS p WHERE p.thread_id = m.thread_id AND p.seq < m.seq
    AND (p.retired_seq IS NULL OR p.retired_seq > m.seq)), 0)
WHERE m.retired_seq IS NOT NULL;
CREATE INDEX messages_hidden ON ${schema}.messages (thread_id, parent_seq, retired_seq, seq)
  WHERE retired_seq IS NOT NULL AND parent_seq IS NOT NULL;
`,
}
