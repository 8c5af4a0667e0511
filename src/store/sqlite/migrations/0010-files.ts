/** The rows of files, and which threads refer to them; the bytes are in a file store. */
export const files = `
CREATE TABLE files (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('uploading', 'ready', 'removing')),
  is_used INTEGER NOT NULL DEFAULT 0 CHECK (is_used IN (0, 1)),
  created_at INTEGER NOT NULL,
  reserved_at INTEGER NOT NULL,
  media_type TEXT,
  bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  sha256 TEXT,
  filename TEXT,
  width INTEGER,
  height INTEGER,
  CHECK (state <> 'ready' OR (media_type IS NOT NULL AND sha256 IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_owner ON files (owner_id, bytes);
CREATE INDEX files_unused ON files (reserved_at) WHERE is_used = 0;

CREATE TABLE file_uses (
  thread INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  PRIMARY KEY (thread, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_uses_by_file ON file_uses (file_id);
`
