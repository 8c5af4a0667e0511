import type { DatabaseSync } from 'node:sqlite'
import type { FileId, FileRecord } from '../../core/file.ts'
import type { OwnerId } from '../../core/ids.ts'
import { type PausableWork, portionsOf } from '../../core/pausable-work.ts'
import { type FileRecords, type FileRow, toFileRecord } from '../file-records.ts'
import { stagedOwner } from './ledger-sql.ts'
import { prepareOn, type StatementAccess, type ThreadKey } from './prepared-statement.ts'

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

export type FileStatements = ReturnType<typeof prepareFileStatements>

export function prepareFileStatements(db: DatabaseSync) {
  const prepare = prepareOn(db)
  return {
    beginFile: prepare<{ id: FileId; ownerId: OwnerId; at: number }>(fileSql.beginFile),
    finishFile: prepare<{
      id: FileId
      mediaType: string
      bytes: number
      sha256: string
      filename: string | null
      width: number | null
      height: number | null
    }>(fileSql.finishFile),
    readFile: prepare<[FileId], FileRow>(fileSql.readFile),
    reserveFile: prepare<{ id: FileId; ownerId: OwnerId; at: number }>(fileSql.reserveFile),
    ownerFileBytes: prepare<[OwnerId], { bytes: number }>(fileSql.ownerFileBytes),
    claimUnusedFiles: prepare<
      { before: number; limit: number; ownerId: OwnerId | null },
      { id: FileId }
    >(fileSql.claimUnusedFiles),
    forgetFile: prepare<[FileId]>(fileSql.forgetFile),
    useFile: prepare<{ thread: ThreadKey; id: FileId; queued: number }>(fileSql.useFile),
    endQueuedUse: prepare<{ thread: ThreadKey; id: FileId }>(fileSql.endQueuedUse),
    releaseFile: prepare<{ id: FileId; at: number }>(fileSql.releaseFile),
    markFileUsed: prepare<{ thread: ThreadKey; id: FileId }>(fileSql.markFileUsed),
    readFileUses: prepare<[thread: ThreadKey], { id: FileId }>(fileSql.readFileUses),
    releaseFiles: prepare<{ thread: ThreadKey }>(fileSql.releaseFiles),
    deleteFileUses: prepare<[thread: ThreadKey]>(fileSql.deleteFileUses),
  }
}

/**
 * Records that the messages of a thread refer to files; those of another owner are left as they are. A message may have
 * thousands of addresses in it.
 */
export function* useFiles(
  { useFile, markFileUsed }: FileStatements,
  thread: ThreadKey,
  ids: readonly FileId[],
  queued: readonly FileId[] = [],
): PausableWork<void> {
  const isQueued = new Set(queued)
  for (const portion of portionsOf(ids)) {
    for (const id of portion) {
      useFile.run({ thread, id, queued: isQueued.has(id) ? 1 : 0 })
      markFileUsed.run({ thread, id })
    }
    yield
  }
}

/** Ends the uses by queued inputs; a file that a message of the thread refers to stays used. */
export function releaseQueuedFiles(
  { endQueuedUse, releaseFile }: FileStatements,
  thread: ThreadKey,
  ids: readonly FileId[],
  at: number,
): void {
  for (const id of ids) {
    if (Number(endQueuedUse.run({ thread, id }).changes) > 0) releaseFile.run({ id, at })
  }
}

export function createSqliteFileRecords({
  read,
  write,
}: StatementAccess<FileStatements>): FileRecords {
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
        const row = { id, mediaType, bytes, sha256, filename, width, height }
        return Number(finishFile.run(row).changes) > 0 ? 'ready' : 'gone'
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
    forget: async (ids) => {
      await write(({ forgetFile }) => {
        for (const id of ids) forgetFile.run(id)
      })
    },
  }
}
