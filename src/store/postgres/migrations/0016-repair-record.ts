import type { Migration } from './migration.ts'

/**
 * The record of what `check --repair` has changed. Until now the first repair created it, with a trigger that
 * deleted a record with its thread: an account that may only read and write rows could not repair.
 */
export const repairRecord: Migration = {
  version: 16,
  isAdditive: true,
  toSql: (schema) => `
DROP TRIGGER IF EXISTS repairs_go_with_their_thread ON ${schema}.threads;
DROP FUNCTION IF EXISTS ${schema}.forget_repairs();
CREATE TABLE IF NOT EXISTS ${schema}.repairs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  problem text NOT NULL,
  note text NOT NULL,
  row_before text
);
CREATE INDEX repairs_by_thread ON ${schema}.repairs (thread_id);
`,
}
