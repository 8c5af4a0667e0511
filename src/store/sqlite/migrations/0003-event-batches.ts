/**
 * The events of one append that belong to one turn become one row, with a line for each: a commit then writes
 * a row or two, however many events it has. Existing rows become batches of one.
 */
export const eventBatches = `
DROP TRIGGER events_never_change;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  size INTEGER NOT NULL CHECK (size BETWEEN 1 AND seq),
  commit_seq INTEGER NOT NULL CHECK (commit_seq >= seq),
  turn INTEGER CHECK (turn <= seq - size + 1),
  at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO events SELECT thread, seq, 1, commit_seq, turn, at, payload FROM events_before;
DROP TABLE events_before;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'a fact never changes'); END;
`
