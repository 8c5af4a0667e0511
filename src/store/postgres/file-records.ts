import type { FileId } from '../../core/file.ts'
import { type FileRecords, type FileRow, toFileRecord } from '../file-records.ts'
import type { Database } from './database.ts'
import { type Statement, toPlainText, toStatement } from './statement.ts'

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
export const releaseFilesStatement = (schema: string): Statement =>
  toStatement(
    'release-files',
    `WITH freed AS (
       DELETE FROM ${schema}.file_uses WHERE thread_id = $1 RETURNING thread_id, file_id)
     ${endUsesSql(schema)}`,
  )

/**
 * The parts of a statement that record the uses of files, which `from` selects: as `n` with the file's id and whether only a
 * queued input refers to it, and as `w` the thread's row. Only threads of its owner use a file (FL2): otherwise anybody who
 * knows an id could keep a file, or have it collected by deleting the thread again.
 */
export const useFilesSql = (schema: string, from: string): readonly string[] => [
  `naming AS MATERIALIZED (
     SELECT w.id AS thread_id, n.file_id, n.queued ${from}
     JOIN ${schema}.files AS f ON f.id = n.file_id
     WHERE f.owner_id = w.owner_id AND f.state = 'ready')`,
  `used AS (
     INSERT INTO ${schema}.file_uses AS u (thread_id, file_id, queued)
     SELECT thread_id, file_id, queued FROM naming
     ON CONFLICT (thread_id, file_id) DO UPDATE SET queued = false
     WHERE u.queued AND NOT excluded.queued)`,
  `kept AS (
     UPDATE ${schema}.files AS f SET is_used = true, reserved_at = 0 FROM naming AS n
     WHERE f.id = n.file_id AND (NOT f.is_used OR f.reserved_at > 0))`,
]

/**
 * Where the uses `freed` were deleted: a file that no other thread refers to is unused now.
 * @param keptFrom if it is named, the file is kept as long as one that was uploaded then
 */
export const endUsesSql = (schema: string, keptFrom?: string): string =>
  `UPDATE ${schema}.files AS f SET is_used = false${
    keptFrom === undefined ? '' : `, reserved_at = greatest(f.reserved_at, ${keptFrom})`
  } FROM freed WHERE f.id = freed.file_id AND NOT EXISTS (
     SELECT FROM ${schema}.file_uses AS u
     WHERE u.file_id = f.id AND u.thread_id <> freed.thread_id)`

export function createFileStatements(schema: string) {
  const files = `${schema}.files`
  const columns = `id, owner_id AS "ownerId", media_type AS "mediaType", bytes, sha256, filename, width, height,
    created_at AS "createdAt"`
  return {
    begin: toStatement(
      'begin-file',
      `INSERT INTO ${files} (id, owner_id, state, created_at, reserved_at)
       VALUES ($1, $2, 'uploading', $3::bigint, $3) ON CONFLICT (id) DO NOTHING`,
    ),
    lockOwner: toStatement(
      'lock-owner',
      `SELECT pg_advisory_xact_lock(hashtextextended('holdfast files ' || $1::text, 0))`,
    ),
    finish: toStatement(
      'finish-file',
      `UPDATE ${files} SET state = 'ready', media_type = $2, bytes = $3, sha256 = $4, filename = $5,
         width = $6, height = $7 WHERE id = $1 AND state = 'uploading'`,
    ),
    read: toStatement(
      'read-file',
      `SELECT ${columns} FROM ${files} WHERE id = $1 AND state = 'ready'`,
    ),
    reserve: toStatement(
      'reserve-files',
      `UPDATE ${files} SET reserved_at = greatest(reserved_at, $3::bigint)
       WHERE id = ANY ($1::text[]) AND owner_id = $2 AND state = 'ready' RETURNING ${columns}`,
    ),
    ownerBytes: toStatement(
      'owner-bytes',
      `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM ${files} WHERE owner_id = $1`,
    ),
    claimUnused: toStatement(
      'claim-unused-files',
      `UPDATE ${files} SET state = 'removing' WHERE id IN (
         SELECT id FROM ${files} AS f WHERE NOT is_used AND reserved_at < $1::bigint
           AND ($3::text IS NULL OR owner_id = $3)
           AND NOT EXISTS (SELECT FROM ${schema}.file_uses AS u WHERE u.file_id = f.id) LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
    ),
    name: toStatement(
      'name-files',
      `WITH ${useFilesSql(
        schema,
        `FROM (SELECT DISTINCT unnest($2::text[]) AS file_id, false AS queued) AS n
         JOIN ${schema}.threads AS w ON w.id = $1`,
      ).join(', ')} SELECT 1`,
    ),
    forget: toStatement(
      'forget-files',
      `DELETE FROM ${files} WHERE id = ANY ($1::text[]) AND state = 'removing'`,
    ),
  }
}
