import type { Migration } from './migration.ts'

/**
 * Links to threads, each with a copy of what it shows (FK5). A link has the incarnation of its thread: if an
 * older version deletes the thread, the link no longer matches any. A link is readable once it has a seq.
 */
export const shares: Migration = {
  version: 15,
  isAdditive: true,
  toSql: (schema) => `
CREATE TABLE ${schema}.shares (
  id text PRIMARY KEY,
  thread_id text NOT NULL,
  incarnation text NOT NULL,
  created_at bigint NOT NULL,
  seq bigint,
  title text NOT NULL DEFAULT '',
  names text NOT NULL DEFAULT '{}'
);
CREATE INDEX shares_by_thread ON ${schema}.shares (thread_id, created_at);

CREATE TABLE ${schema}.share_messages (
  share_id text NOT NULL,
  nth integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (share_id, nth)
);
`,
}
