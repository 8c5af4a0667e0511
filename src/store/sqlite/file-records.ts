import type { FileRecord } from '../../core/file.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { FileRecords } from '../file-records.ts'
import { toFileRecord } from '../file-row.ts'
import type { AsyncConnection } from './connection.ts'

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
  markFileUsed: 'UPDATE files SET is_used = 1 WHERE id = ? AND is_used = 0',
  // What only this thread named is left over: it goes at the next look, however new it is.
  releaseFiles: `UPDATE files SET is_used = 0, reserved_at = 0
    WHERE id IN (SELECT file_id FROM file_uses WHERE thread = :thread)
      AND NOT EXISTS (SELECT 1 FROM file_uses u WHERE u.file_id = files.id AND u.thread <> :thread)`,
  deleteFileUses: 'DELETE FROM file_uses WHERE thread = ?',
} as const

export function createSqliteFileRecords({
  read,
  write,
}: Pick<AsyncConnection, 'read' | 'write'>): FileRecords {
  return {
    begin: async (file) => {
      await write(({ beginFile }) => beginFile.run({ ...file }))
    },
    finish: (file, mostOwnerBytes) =>
      write(({ finishFile, ownerFileBytes }) => {
        const { id, ownerId, mediaType, bytes, sha256 } = file
        const { filename = null, width = null, height = null } = file
        const has = ownerFileBytes.get(ownerId)?.bytes ?? 0
        if (has + bytes > mostOwnerBytes) return 'over-limit'
        finishFile.run({ id, mediaType, bytes, sha256, filename, width, height })
        return 'ready'
      }),
    read: (id) =>
      read(({ readFile }) => {
        const row = readFile.get(id)
        return row === undefined ? null : toFileRecord(row)
      }),
    reserve: (ids, ownerId, at) =>
      write(({ reserveFile, readFile }) =>
        ids.flatMap((id): readonly FileRecord[] => {
          const isOwn = Number(reserveFile.run({ id, ownerId, at }).changes) > 0
          const row = isOwn ? readFile.get(id) : undefined
          return row === undefined ? [] : [toFileRecord(row)]
        }),
      ),
    ownerBytes: (ownerId) => read(({ ownerFileBytes }) => ownerFileBytes.get(ownerId)?.bytes ?? 0),
    claimUnused: ({ before, limit, ownerId = null }) =>
      write(({ claimUnusedFiles }) =>
        claimUnusedFiles.all({ before, limit, ownerId }).map(({ id }) => id),
      ),
    name: async (threadId: ThreadId, ids) => {
      await write(({ readKey, useFile, markFileUsed }) => {
        const thread = readKey.get(threadId)?.thread
        if (thread === undefined) return
        for (const id of ids) {
          useFile.run(thread, id)
          markFileUsed.run(id)
        }
      })
    },
    forget: async (ids) => {
      await write(({ forgetFile }) => {
        for (const id of ids) forgetFile.run(id)
      })
    },
  }
}
