/**
 * Every key begins with the thread's number in this database: ids are long, and with keys of a few bytes many threads
 * stream into few pages. For the same reason rows refer to a turn by its seq. The tables themselves refuse what a row must
 * never do, so that no other program, and no bug in this one, can reopen an ended call (CL2).
 *
 * Several messages of a thread can have one id, but only one of them is shown: the others were retired, each at its own seq.
 */
export const ledger = `
CREATE TABLE counter (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  least INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (1, 0);

CREATE TABLE threads (
  thread INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner_id TEXT NOT NULL,
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  activity INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  fence INTEGER NOT NULL CHECK (fence >= 0),
  lease_holder TEXT,
  lease_turn TEXT,
  lease_until INTEGER,
  stop_fence INTEGER CHECK (stop_fence <= fence),
  CHECK ((lease_holder IS NULL) = (lease_turn IS NULL)),
  CHECK ((lease_holder IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE UNIQUE INDEX threads_by_activity ON threads (owner_id, activity);
CREATE UNIQUE INDEX threads_by_change ON threads (changed);
CREATE INDEX threads_leased ON threads (thread) WHERE lease_holder IS NOT NULL;

CREATE TRIGGER threads_go_forward BEFORE UPDATE ON threads
WHEN NEW.seq < OLD.seq OR NEW.fence < OLD.fence OR NEW.activity < OLD.activity
  OR NEW.changed < OLD.changed OR NEW.thread <> OLD.thread OR NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a thread never goes back'); END;

CREATE TABLE messages (
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  message_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'system', 'assistant')),
  status TEXT CHECK (status IN ('running', 'waiting', 'ended')),
  is_sealed INTEGER NOT NULL CHECK (is_sealed IN (0, 1)),
  body_seq INTEGER CHECK (body_seq >= seq),
  commit_seq INTEGER NOT NULL CHECK (commit_seq >= seq),
  created_at INTEGER NOT NULL,
  retired_seq INTEGER,
  body TEXT,
  PRIMARY KEY (thread, seq),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((body IS NULL) = (body_seq IS NULL)),
  CHECK (role = 'assistant' OR (body_seq = seq AND is_sealed)),
  CHECK (NOT is_sealed OR body IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX messages_by_id ON messages (thread, message_id, ifnull(retired_seq, 0));
CREATE INDEX messages_shown ON messages (thread, seq, retired_seq) WHERE retired_seq IS NULL;
CREATE INDEX messages_running ON messages (thread, seq) WHERE status = 'running';
CREATE INDEX messages_by_body ON messages (thread, body_seq) WHERE body_seq IS NOT NULL;
CREATE INDEX turns_by_id ON messages (message_id) WHERE role = 'assistant';

CREATE TRIGGER messages_keep_their_place BEFORE UPDATE ON messages
WHEN NEW.thread <> OLD.thread OR NEW.seq <> OLD.seq OR NEW.message_id <> OLD.message_id
  OR NEW.role <> OLD.role OR (OLD.retired_seq IS NOT NULL AND NEW.retired_seq IS NOT OLD.retired_seq)
BEGIN SELECT RAISE(ABORT, 'a message keeps its place'); END;
CREATE TRIGGER messages_are_sealed_forward BEFORE UPDATE OF body, body_seq ON messages
WHEN OLD.role <> 'assistant' OR NEW.status <> 'ended' OR NEW.body_seq IS NULL
  OR NEW.body_seq < OLD.body_seq
BEGIN SELECT RAISE(ABORT, 'only a turn that has ended is sealed, and never back'); END;

CREATE TABLE events (
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  commit_seq INTEGER NOT NULL CHECK (commit_seq >= seq),
  turn INTEGER CHECK (turn <= seq),
  call_id TEXT,
  at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (thread, seq)
) STRICT;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'a fact never changes'); END;

CREATE TABLE calls (
  thread INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > turn),
  name TEXT NOT NULL,
  life TEXT NOT NULL CHECK (life IN (
    'streaming', 'awaiting-approval', 'ready', 'running', 'succeeded', 'failed', 'denied',
    'stopped', 'interrupted', 'unknown', 'skipped'
  )),
  input TEXT,
  output TEXT,
  model_output TEXT,
  PRIMARY KEY (thread, call_id),
  CHECK ((life = 'succeeded') = (output IS NOT NULL)),
  CHECK (model_output IS NULL OR output IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX calls_by_turn ON calls (thread, turn, seq);

CREATE TRIGGER calls_end_once BEFORE UPDATE ON calls
WHEN OLD.life IN ('succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'skipped')
BEGIN SELECT RAISE(ABORT, 'an ended call never changes'); END;
CREATE TRIGGER calls_keep_their_place BEFORE UPDATE ON calls
WHEN NEW.thread <> OLD.thread OR NEW.call_id <> OLD.call_id OR NEW.turn <> OLD.turn
  OR NEW.seq <> OLD.seq
BEGIN SELECT RAISE(ABORT, 'a call keeps its place'); END;
`
