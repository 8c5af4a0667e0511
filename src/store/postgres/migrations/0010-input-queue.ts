import type { Migration } from './migration.ts'

/** The waiting inputs as JSON text: the fold of the thread's events about the queue (IN2). */
export const inputQueue: Migration = {
  version: 10,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.threads ADD COLUMN queue text NOT NULL DEFAULT '[]';
`,
}
