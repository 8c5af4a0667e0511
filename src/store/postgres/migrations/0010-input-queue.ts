import type { Migration } from './migration.ts'

/** The inputs that wait for their turn, as JSON text: the fold of the thread's events about them (IN2). */
export const inputQueue: Migration = {
  version: 10,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.threads ADD COLUMN queue text NOT NULL DEFAULT '[]';
`,
}
