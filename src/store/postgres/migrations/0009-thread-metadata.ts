import type { Migration } from './migration.ts'

/** The host's metadata of a thread, as JSON text. */
export const threadMetadata: Migration = {
  version: 9,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.threads ADD COLUMN metadata text NOT NULL DEFAULT '{}';
`,
}
