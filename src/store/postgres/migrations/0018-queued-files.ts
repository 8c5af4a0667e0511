import type { Migration } from './migration.ts'

/**
 * Which uses come from queued inputs alone: these end when the input is withdrawn or edited (FL2). And an end of uses in
 * threads of another owner, which earlier steps did not refuse; their files are kept as new uploads are.
 */
export const queuedFiles: Migration = {
  version: 18,
  isAdditive: true,
  toSql: (schema) => `
ALTER TABLE ${schema}.file_uses ADD COLUMN queued boolean NOT NULL DEFAULT false;
DELETE FROM ${schema}.file_uses AS u USING ${schema}.files AS f, ${schema}.threads AS t
  WHERE f.id = u.file_id AND t.id = u.thread_id AND f.owner_id <> t.owner_id;
UPDATE ${schema}.files AS f SET is_used = false,
    reserved_at = greatest(reserved_at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
  WHERE is_used AND NOT EXISTS (SELECT FROM ${schema}.file_uses AS u WHERE u.file_id = f.id);
`,
}
