/**
 * Events are small and looked up by their key only: in a table without rowid each is written once and not
 * twice. Triggers that guard columns now run only if these columns are written.
 */
export const eventsWithoutRowid = `
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

DROP TRIGGER calls_keep_their_place;
CREATE TRIGGER calls_keep_their_place BEFORE UPDATE OF thread, call_id, turn, seq ON calls
WHEN NEW.thread <> OLD.thread OR NEW.call_id <> OLD.call_id OR NEW.turn <> OLD.turn
  OR NEW.seq <> OLD.seq
BEGIN SELECT RAISE(ABORT, 'a call keeps its place'); END;
DROP TRIGGER messages_keep_their_place;
CREATE TRIGGER messages_keep_their_place
BEFORE UPDATE OF thread, seq, message_id, role, retired_seq ON messages
WHEN NEW.thread <> OLD.thread OR NEW.seq <> OLD.seq OR NEW.message_id <> OLD.message_id
  OR NEW.role <> OLD.role OR (OLD.retired_seq IS NOT NULL AND NEW.retired_seq IS NOT OLD.retired_seq)
BEGIN SELECT RAISE(ABORT, 'a message keeps its place'); END;
`
