import type { FileId } from '../../core/file.ts'
import type { FileRecords } from '../file-records.ts'
import { type FileRow, toFileRecord } from '../file-row.ts'
import type { Database } from './database.ts'
import { type Statement, toPlainText } from './statement.ts'

/** `schema` is quoted. */
export function createPostgresFileRecords(
  { run, transaction }: Pick<Database, 'run' | 'transaction'>,
  schema: string,
): FileRecords {
  const sql = createFileStatements(schema)
  return {
    begin: async ({ id, ownerId, at }) => {
      await run(sql.begin, [id, ownerId, at])
    },
    finish: (file, mostOwnerBytes) =>
      transaction(async (runInside) => {
        const { id, ownerId, mediaType, bytes, sha256 } = file
        const { filename, width = null, height = null } = file
        // Without the lock, two uploads of one owner would each fit the limit alone and exceed it together.
        await runInside(sql.lockOwner, [ownerId])
        const [owner] = await runInside<{ readonly bytes: number }>(sql.ownerBytes, [ownerId])
        if ((owner?.bytes ?? 0) + bytes > mostOwnerBytes) return 'over-limit'
        const name = filename === undefined ? null : toPlainText(filename)
        await runInside(sql.finish, [id, mediaType, bytes, sha256, name, width, height])
        return (await runInside<FileRow>(sql.read, [id])).length > 0 ? 'ready' : 'gone'
      }),
    read: async (id) => {
      const [row] = await run<FileRow>(sql.read, [id])
      return row === undefined ? null : toFileRecord(row)
    },
    reserve: async (ids, ownerId, at) =>
      (await run<FileRow>(sql.reserve, [ids, ownerId, at])).map(toFileRecord),
    ownerBytes: async (ownerId) => {
      const [owner] = await run<{ readonly bytes: number }>(sql.ownerBytes, [ownerId])
      return owner?.bytes ?? 0
    },
    claimUnused: async ({ before, limit, ownerId = null }) =>
      (await run<{ readonly id: FileId }>(sql.claimUnused, [before, limit, ownerId])).map(
        ({ id }) => id,
      ),
    name: async (threadId, ids) => {
      await run(sql.name, [threadId, ids])
    },
    forget: async (ids) => {
      await run(sql.forget, [ids])
    },
  }
}

/**
 * Files that only this thread referred to are unused now: the next collection removes them, however new they
 * are, unless they were reserved since. A concurrent transaction may let another thread refer to them, which
 * this one cannot see: `claimUnused` therefore checks the uses again.
 */
export const releaseFilesStatement = (schema: string): Statement => ({
  name: 'holdfast-release-files',
  text: `WITH gone AS (DELETE FROM ${schema}.file_uses WHERE thread_id = $1 RETURNING file_id)
    UPDATE ${schema}.files AS f SET is_used = false FROM gone
    WHERE f.id = gone.file_id AND NOT EXISTS (
      SELECT FROM ${schema}.file_uses AS u WHERE u.file_id = f.id AND u.thread_id <> $1)`,
})

export function createFileStatements(schema: string) {
  const files = `${schema}.files`
  const columns = `id, owner_id AS "ownerId", media_type AS "mediaType", bytes, sha256, filename, width, height,
    created_at AS "createdAt"`
  return {
    begin: statement(
      'begin-file',
      `INSERT INTO ${files} (id, owner_id, state, created_at, reserved_at)
       VALUES ($1, $2, 'uploading', $3::bigint, $3) ON CONFLICT (id) DO NOTHING`,
    ),
    lockOwner: statement(
      'lock-owner',
      `SELECT pg_advisory_xact_lock(hashtextextended('holdfast files ' || $1::text, 0))`,
    ),
    finish: statement(
      'finish-file',
      `UPDATE ${files} SET state = 'ready', media_type = $2, bytes = $3, sha256 = $4, filename = $5,
         width = $6, height = $7 WHERE id = $1 AND state = 'uploading'`,
    ),
    read: statement(
      'read-file',
      `SELECT ${columns} FROM ${files} WHERE id = $1 AND state = 'ready'`,
    ),
    reserve: statement(
      'reserve-files',
      `UPDATE ${files} SET reserved_at = greatest(reserved_at, $3::bigint)
       WHERE id = ANY ($1::text[]) AND owner_id = $2 AND state = 'ready' RETURNING ${columns}`,
    ),
    ownerBytes: statement(
      'owner-bytes',
      `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM ${files} WHERE owner_id = $1`,
    ),
    claimUnused: statement(
      'claim-unused-files',
      `UPDATE ${files} SET state = 'removing' WHERE id IN (
         SELECT id FROM ${files} AS f WHERE NOT is_used AND reserved_at < $1::bigint
           AND ($3::text IS NULL OR owner_id = $3)
           AND NOT EXISTS (SELECT FROM ${schema}.file_uses AS u WHERE u.file_id = f.id) LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
    ),
    name: statement(
      'name-files',
      `WITH own AS (
         SELECT t.id AS thread_id, f.id FROM ${schema}.threads AS t JOIN ${files} AS f USING (owner_id)
         WHERE t.id = $1 AND f.id = ANY ($2::text[]) AND f.state = 'ready'), used AS (
         INSERT INTO ${schema}.file_uses (thread_id, file_id) SELECT thread_id, id FROM own
         ON CONFLICT DO NOTHING)
       UPDATE ${files} AS f SET is_used = true, reserved_at = 0 FROM own WHERE f.id = own.id`,
    ),
    forget: statement(
      'forget-files',
      `DELETE FROM ${files} WHERE id = ANY ($1::text[]) AND state = 'removing'`,
    ),
  }
}

const statement = (name: string, text: string): Statement => ({ name: `holdfast-${name}`, text })
