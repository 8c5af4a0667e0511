import type { Migration } from './migration.ts'

/**
 * A row of `events` now holds neighbouring events of one append, a line for each, and the seq of the last one; existing rows
 * hold one each. The call that an event belongs to is in its line.
 *
 * A batch is often larger than the 2 kB from which on PostgreSQL compresses, during a commit that a writer waits for. It is
 * deleted when its turn has ended, so it stays uncompressed as long as it fits a page.
 *
 * The row of a call is written when it begins, and again with its result. More than half of each page stays free for
 * that, so that most results are heap-only updates, which touch no index. PostgreSQL parses a CHECK again from its text in
 * the catalogue for each statement that writes: a list that is one array constant is shorter there than a list of constants.
 */
export const eventBatches: Migration = {
  version: 6,
  toSql: (schema) => `
ALTER TABLE ${schema}.events ADD COLUMN size integer NOT NULL DEFAULT 1;
ALTER TABLE ${schema}.events ALTER COLUMN size DROP DEFAULT, DROP COLUMN call_id;
ALTER TABLE ${schema}.events SET (toast_tuple_target = 8160);

ALTER TABLE ${schema}.calls SET (fillfactor = 40);
ALTER TABLE ${schema}.calls DROP CONSTRAINT calls_life_check, ADD CONSTRAINT calls_life_check
  CHECK (life = ANY ('{streaming,awaiting-approval,ready,running,succeeded,failed,denied,stopped,'
    'interrupted,unknown,skipped}'));
DROP TRIGGER calls_end_once ON ${schema}.calls;
CREATE TRIGGER calls_end_once BEFORE UPDATE ON ${schema}.calls FOR EACH ROW
  WHEN (OLD.life = ANY ('{succeeded,failed,denied,stopped,interrupted,skipped}'))
  EXECUTE FUNCTION ${schema}.refuse_revival();

-- The one is a statement now; the other has new parameters and would stay beside the new one.
DROP FUNCTION IF EXISTS ${schema}.append_to_turn;
DROP FUNCTION IF EXISTS ${schema}.commit_appends;

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings
    WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE ${schema}.events ALTER COLUMN payload SET COMPRESSION lz4;
  END IF;
END $$;
`,
}
