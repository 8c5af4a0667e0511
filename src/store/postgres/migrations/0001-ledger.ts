import type { Migration } from './migration.ts'

/**
 * Every key begins with the thread, so the tables can be partitioned, or used on a distributed PostgreSQL, without change;
 * for the same reason there are no foreign keys. Ids are compared as bytes. JSON is text, never jsonb, so that a value is
 * read exactly as it was stored.
 *
 * Several messages of a thread can have one id, but only one of them is shown: the others were retired, each at its own seq.
 */
export const ledger: Migration = {
  version: 1,
  toSql: (schema) => `
CREATE SEQUENCE ${schema}.activity;

CREATE TABLE ${schema}.threads (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  title text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  seq bigint NOT NULL DEFAULT 0,
  activity bigint NOT NULL DEFAULT nextval('${schema}.activity'),
  fence bigint NOT NULL DEFAULT 0,
  lease_holder text,
  lease_turn text,
  lease_until timestamptz,
  stop_fence bigint
-- Half of each page stays free: a new seq or a heartbeat then finds room beside the old row and
-- touches no index (a heap-only update), because none has seq or lease_until in it. No CHECK here:
-- each one is set up anew for every append.
) WITH (fillfactor = 50);
CREATE INDEX threads_by_activity ON ${schema}.threads (owner_id, activity);
CREATE INDEX threads_leased ON ${schema}.threads (id) WHERE lease_holder IS NOT NULL;

CREATE TABLE ${schema}.messages (
  thread_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  role text NOT NULL CHECK (role IN ('user', 'system', 'assistant')),
  status text CHECK (status IN ('running', 'waiting', 'ended')),
  body text,
  body_seq bigint,
  commit_seq bigint NOT NULL,
  created_at bigint NOT NULL,
  retired_seq bigint,
  PRIMARY KEY (thread_id, seq),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((body IS NULL) = (body_seq IS NULL))
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX messages_by_id ON ${schema}.messages
  (thread_id, message_id, coalesce(retired_seq, 0));
CREATE INDEX messages_shown ON ${schema}.messages (thread_id, seq) WHERE retired_seq IS NULL;
CREATE INDEX messages_live ON ${schema}.messages (thread_id, seq)
  WHERE status = 'running' AND retired_seq IS NULL;
CREATE INDEX messages_by_body ON ${schema}.messages (thread_id, body_seq);
CREATE INDEX messages_turns ON ${schema}.messages (message_id) WHERE role = 'assistant';

CREATE TABLE ${schema}.events (
  thread_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  commit_seq bigint NOT NULL,
  message_id text COLLATE "C",
  call_id text COLLATE "C",
  at bigint NOT NULL,
  payload text NOT NULL,
  PRIMARY KEY (thread_id, seq)
);
CREATE INDEX events_by_message ON ${schema}.events (thread_id, message_id, seq);

CREATE TABLE ${schema}.calls (
  thread_id text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  name text NOT NULL,
  life text NOT NULL CHECK (life IN ('streaming', 'awaiting-approval', 'ready', 'running',
    'succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'unknown', 'skipped')),
  input text,
  output text,
  model_output text,
  PRIMARY KEY (thread_id, call_id),
  CHECK ((life = 'succeeded') = (output IS NOT NULL)),
  CHECK (model_output IS NULL OR output IS NOT NULL)
) WITH (fillfactor = 80);
CREATE INDEX calls_by_message ON ${schema}.calls (thread_id, message_id, seq);

CREATE FUNCTION ${schema}.refuse_revival() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The call % has ended as % and never changes.', OLD.call_id, OLD.life
    USING ERRCODE = 'check_violation', TABLE = 'calls';
END $$;
CREATE TRIGGER calls_end_once BEFORE UPDATE ON ${schema}.calls FOR EACH ROW
  WHEN (OLD.life IN ('succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'skipped'))
  EXECUTE FUNCTION ${schema}.refuse_revival();

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings
    WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE ${schema}.messages ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE ${schema}.calls ALTER COLUMN input SET COMPRESSION lz4,
      ALTER COLUMN output SET COMPRESSION lz4, ALTER COLUMN model_output SET COMPRESSION lz4;
  END IF;
END $$;
`,
}
