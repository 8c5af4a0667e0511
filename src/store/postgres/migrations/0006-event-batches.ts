import type { Migration } from './migration.ts'

/**
 * A row of events has the events of one append that stand side by side, a line for each, and the seq
 * of the last of them; those that are there have one each. Which call an event is about is in its line.
 *
 * A batch is often over the 2 kB from which on PostgreSQL compresses, in the commit that somebody waits
 * for. It is gone when its turn has ended, so it stays as it is as long as it fits a page.
 *
 * The row of a call is written when it begins, and again with its result. More than half of each page
 * stays free for that, so most results find room beside the old row and touch no index. A condition
 * is read anew from its text in the catalogue by each statement that writes: a list that is one
 * constant is shorter there than one of constants.
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
