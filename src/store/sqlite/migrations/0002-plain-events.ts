/**
 * Facts are small and found by their place alone: kept in the tree of their key, each is written once
 * and not twice.
 */
export const plainEvents = `
DROP TRIGGER events_never_change;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  commit_seq INTEGER NOT NULL CHECK (commit_seq >= seq),
  turn INTEGER CHECK (turn <= seq),
  call_id TEXT,
  at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO events SELECT thread, seq, commit_seq, turn, call_id, at, payload FROM events_before;
DROP TABLE events_before;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'a fact never changes'); END;
`
