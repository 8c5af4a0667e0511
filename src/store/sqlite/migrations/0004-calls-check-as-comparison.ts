/**
 * The same checks of calls, written as comparisons. For `life IN (…)` with more than two values SQLite builds
 * an ephemeral table for every row that is written; comparisons need none.
 */
const isOneOf = (column: string, values: readonly string[]): string =>
  values.map((value) => `${column} = '${value}'`).join(' OR ')

const open = ['streaming', 'awaiting-approval', 'ready', 'running', 'unknown']
const ended = ['succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'skipped']

export const callsCheckAsComparison = `
DROP TRIGGER calls_end_once;
DROP TRIGGER calls_keep_their_place;
DROP INDEX calls_by_turn;
ALTER TABLE calls RENAME TO calls_before;
CREATE TABLE calls (
  thread INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > turn),
  name TEXT NOT NULL,
  life TEXT NOT NULL CHECK (${isOneOf('life', [...open, ...ended])}),
  input TEXT,
  output TEXT,
  model_output TEXT,
  PRIMARY KEY (thread, call_id),
  CHECK ((life = 'succeeded') = (output IS NOT NULL)),
  CHECK (model_output IS NULL OR output IS NOT NULL)
) STRICT;
INSERT INTO calls
  SELECT thread, call_id, turn, seq, name, life, input, output, model_output FROM calls_before;
DROP TABLE calls_before;
CREATE UNIQUE INDEX calls_by_turn ON calls (thread, turn, seq);
CREATE TRIGGER calls_end_once BEFORE UPDATE ON calls WHEN ${isOneOf('OLD.life', ended)}
BEGIN SELECT RAISE(ABORT, 'an ended call never changes'); END;
CREATE TRIGGER calls_keep_their_place BEFORE UPDATE OF thread, call_id, turn, seq ON calls
WHEN NEW.thread <> OLD.thread OR NEW.call_id <> OLD.call_id OR NEW.turn <> OLD.turn
  OR NEW.seq <> OLD.seq
BEGIN SELECT RAISE(ABORT, 'a call keeps its place'); END;
`
