import type { Migration } from './migration.ts'

/**
 * Pinned and archived threads (FK2), and who set a title where it was not a person (FK3), as JSON text. Both
 * lists are read in the order of activity, so each has its own index.
 */
export const keptThreads: Migration = {
  version: 14,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.threads ADD COLUMN pinned boolean NOT NULL DEFAULT false,
  ADD COLUMN archived boolean NOT NULL DEFAULT false, ADD COLUMN title_note text;
CREATE INDEX threads_listed ON ${schema}.threads (owner_id, activity) WHERE NOT archived;
CREATE INDEX threads_archived ON ${schema}.threads (owner_id, activity) WHERE archived;
CREATE INDEX threads_pinned ON ${schema}.threads (owner_id, activity) WHERE pinned AND NOT archived;
CREATE INDEX threads_pinned_archived ON ${schema}.threads (owner_id, activity) WHERE pinned AND archived;
`,
}
