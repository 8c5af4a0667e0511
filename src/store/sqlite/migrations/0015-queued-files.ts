/**
 * Which uses come from queued inputs alone: these end when the input is withdrawn or edited (FL2). And an end of uses in
 * threads of another owner, which earlier steps did not refuse; their files are kept as new uploads are.
 */
export const queuedFiles = `
ALTER TABLE file_uses ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
DELETE FROM file_uses WHERE EXISTS (SELECT 1 FROM files f, threads t
  WHERE f.id = file_uses.file_id AND t.thread = file_uses.thread AND f.owner_id <> t.owner_id
    AND substr(t.owner_id, 1, 1) <> char(1));
UPDATE files SET is_used = 0, reserved_at = max(reserved_at, unixepoch() * 1000)
  WHERE is_used = 1 AND NOT EXISTS (SELECT 1 FROM file_uses u WHERE u.file_id = files.id);
`
