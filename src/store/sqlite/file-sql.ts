import { stagedOwner } from './ledger-sql.ts'

const columns = `id, owner_id AS ownerId, media_type AS mediaType, bytes, sha256, filename, width, height,
  created_at AS createdAt`

export const fileSql = {
  beginFile: `INSERT INTO files (id, owner_id, state, created_at, reserved_at)
    VALUES (:id, :ownerId, 'uploading', :at, :at)`,
  finishFile: `UPDATE files SET state = 'ready', media_type = :mediaType, bytes = :bytes, sha256 = :sha256,
    filename = :filename, width = :width, height = :height WHERE id = :id AND state = 'uploading'`,
  readFile: `SELECT ${columns} FROM files WHERE id = ? AND state = 'ready'`,
  reserveFile: `UPDATE files SET reserved_at = max(reserved_at, :at)
    WHERE id = :id AND owner_id = :ownerId AND state = 'ready'`,
  ownerFileBytes: 'SELECT coalesce(sum(bytes), 0) AS bytes FROM files WHERE owner_id = ?',
  claimUnusedFiles: `UPDATE files SET state = 'removing' WHERE id IN (
      SELECT id FROM files INDEXED BY files_unused WHERE is_used = 0 AND reserved_at < :before
        AND (:ownerId IS NULL OR owner_id = :ownerId) LIMIT :limit + 0)
    RETURNING id`,
  forgetFile: "DELETE FROM files WHERE id = ? AND state = 'removing'",
  // Only threads of its owner use a file (FL2): otherwise anybody who knows an id could keep a file, or have it
  // collected by deleting the thread again. Whose a staged thread will be is known when it is published.
  useFile: `INSERT INTO file_uses (thread, file_id, queued)
    SELECT t.thread, f.id, :queued FROM threads t, files f WHERE t.thread = :thread AND f.id = :id
      AND f.state = 'ready' AND t.owner_id IN (f.owner_id, '${stagedOwner}')
    ON CONFLICT DO UPDATE SET queued = 0 WHERE queued = 1 AND excluded.queued = 0`,
  markFileUsed: `UPDATE files SET is_used = 1, reserved_at = 0
    WHERE id = :id AND (is_used = 0 OR reserved_at > 0)
      AND owner_id = (SELECT owner_id FROM threads WHERE thread = :thread)`,
  readFileUses: 'SELECT file_id AS id FROM file_uses WHERE thread = ?',
  // Files that only this thread referred to are unused now: the next collection removes them, however new
  // they are, unless they were reserved since.
  releaseFiles: `UPDATE files SET is_used = 0
    WHERE id IN (SELECT file_id FROM file_uses WHERE thread = :thread)
      AND NOT EXISTS (SELECT 1 FROM file_uses u WHERE u.file_id = files.id AND u.thread <> :thread)`,
  endQueuedUse: 'DELETE FROM file_uses WHERE thread = :thread AND file_id = :id AND queued = 1',
  // Kept as long as a new upload: who withdraws a message may be about to send it again.
  releaseFile: `UPDATE files SET is_used = 0, reserved_at = max(reserved_at, :at)
    WHERE id = :id AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = :id)`,
  deleteFileUses: 'DELETE FROM file_uses WHERE thread = ?',
} as const
