import type { Migration } from './migration.ts'

/**
 * The rows of a commit are now planned before the transaction and written by one statement: the functions
 * that did this here are dropped. The row of a call is mostly written once, with its result, so its pages
 * need no free space for a second version.
 */
export const rowsPlannedOutside: Migration = {
  version: 7,
  toSql: (schema) => `
DROP FUNCTION IF EXISTS ${schema}.commit_appends;
DROP FUNCTION IF EXISTS ${schema}.write_wide;
DROP FUNCTION IF EXISTS ${schema}.find_illegal;
DROP FUNCTION IF EXISTS ${schema}.close_way;
DROP FUNCTION IF EXISTS ${schema}.seal_turn;
DROP FUNCTION IF EXISTS ${schema}.delete_thread;
ALTER TABLE ${schema}.calls SET (fillfactor = 100);
`,
}
