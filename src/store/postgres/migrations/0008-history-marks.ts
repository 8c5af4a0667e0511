import type { Migration } from './migration.ts'

/**
 * By which a place of another history is told apart (OP6): a thread has a name that is drawn when it is
 * made, and every commit one of its own, which the rows that it wrote say too. Rows from before, and
 * those that an older version writes beside this one, have none.
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
