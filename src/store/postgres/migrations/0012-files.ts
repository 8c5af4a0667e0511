import type { Migration } from './migration.ts'

/** The rows of files, which threads refer to them, and the bytes of files that are kept in the database. */
export const files: Migration = {
  version: 12,
  isAdditive: true,
  toSql: (schema) => `
CREATE TABLE ${schema}.files (
  id text PRIMARY KEY,
  owner_id text NOT NULL,
  state text NOT NULL CHECK (state IN ('uploading', 'ready', 'removing')),
  is_used boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  reserved_at bigint NOT NULL,
  media_type text,
  bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  sha256 text,
  filename text,
  width integer,
  height integer,
  CHECK (state <> 'ready' OR (media_type IS NOT NULL AND sha256 IS NOT NULL))
);
CREATE INDEX files_by_owner ON ${schema}.files (owner_id, bytes);
CREATE INDEX files_unused ON ${schema}.files (reserved_at) WHERE NOT is_used;

CREATE TABLE ${schema}.file_uses (
  thread_id text NOT NULL,
  file_id text NOT NULL,
  PRIMARY KEY (thread_id, file_id)
);
CREATE INDEX file_uses_by_file ON ${schema}.file_uses (file_id);

CREATE TABLE ${schema}.file_pieces (
  file_id text NOT NULL,
  nth integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (file_id, nth)
);
ALTER TABLE ${schema}.file_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
`,
}
