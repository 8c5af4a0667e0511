/**
 * Links to threads, each with a copy of what it shows (FK5). A link has the incarnation of its thread: if an
 * older version deletes the thread, the link no longer matches any. A link is readable once it has a seq.
 */
export const shares = `
CREATE TABLE shares (
  id TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seq INTEGER,
  title TEXT NOT NULL DEFAULT '',
  names TEXT NOT NULL DEFAULT '{}'
) STRICT, WITHOUT ROWID;
CREATE INDEX shares_by_thread ON shares (thread_id, created_at);

CREATE TABLE share_messages (
  share_id TEXT NOT NULL,
  nth INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (share_id, nth)
) STRICT, WITHOUT ROWID;
`
