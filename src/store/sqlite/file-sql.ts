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
  useFile: 'INSERT INTO file_uses (thread, file_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  markFileUsed: `UPDATE files SET is_used = 1, reserved_at = 0
    WHERE id = ? AND (is_used = 0 OR reserved_at > 0)`,
  // What only this thread named is left over: it goes at the next look, however new it is, unless somebody has reserved
  // it since it was named.
  releaseFiles: `UPDATE files SET is_used = 0
    WHERE id IN (SELECT file_id FROM file_uses WHERE thread = :thread)
      AND NOT EXISTS (SELECT 1 FROM file_uses u WHERE u.file_id = files.id AND u.thread <> :thread)`,
  deleteFileUses: 'DELETE FROM file_uses WHERE thread = ?',
} as const
