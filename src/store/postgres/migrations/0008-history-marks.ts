import type { Migration } from './migration.ts'

/**
 * The columns by which a reader's place of another history is recognised (OP6): each thread gets a random
 * incarnation when it is created, and each commit a random mark, which is also stored in the rows that it
 * wrote. Rows from before, and those of an older version that runs beside this one, have none.
 */
export const historyMarks: Migration = {
  version: 8,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.threads
  ADD COLUMN incarnation text NOT NULL DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 10),
  ADD COLUMN mark text NOT NULL DEFAULT '';
ALTER TABLE ${schema}.messages ADD COLUMN mark text NOT NULL DEFAULT '';
ALTER TABLE ${schema}.events ADD COLUMN mark text NOT NULL DEFAULT '';
`,
}
