import type { Share, StoredShare } from '../../core/share.ts'
import {
  readShareNames,
  type SharedText,
  type ShareRecords,
  toShareNames,
} from '../share-records.ts'
import type { Database } from './database.ts'
import { ofKnown, type Statement, toCompactStatement, toPlainText } from './statement.ts'

type ShareRow = Omit<StoredShare, 'files' | 'calls'> & { readonly names: string }
type TextRow = SharedText & { readonly isMore: boolean }

/** `schema` is quoted. */
export function createPostgresShareRecords(
  { run, transaction }: Pick<Database, 'run' | 'transaction'>,
  schema: string,
): ShareRecords {
  const sql = createShareStatements(schema)
  return {
    begin: ({ id, threadId, incarnation, at, most, unfinishedBefore }) =>
      transaction(async (runInside) => {
        // Locked until the end of the transaction: a thread that is being deleted is then gone, and two
        // concurrent links are counted one after the other.
        const [thread] = await runInside(sql.lock, [threadId, incarnation ?? null])
        if (thread === undefined) return 'no-thread'
        await runInside(sql.dropUnfinished, [threadId, unfinishedBefore])
        const [found] = await runInside<{ readonly count: number }>(sql.count, [threadId])
        if ((found?.count ?? 0) >= most) return 'full'
        await runInside(sql.begin, [id, threadId, at])
        return 'begun'
      }),
    add: async (id, texts) => {
      await run(sql.add, [id, texts.map(({ nth }) => nth), texts.map(({ body }) => body)])
    },
    finish: async (share) => {
      const { id, seq, title } = share
      const values = [id, seq, toPlainText(title), toShareNames(share)]
      return (await run(sql.finish, values)).length > 0
    },
    read: async (id) => {
      const [row] = await run<ShareRow>(sql.read, [id])
      if (row === undefined) return null
      const { names, ...share } = row
      return { ...share, ...readShareNames(names) }
    },
    readTexts: async ({ id, before, limit, maxBytes }) => {
      const values = [id, before ?? 0x7fff_ffff, limit, maxBytes]
      const rows = await run<TextRow>(sql.readTexts, values)
      const texts = rows.filter(({ isMore }) => !isMore)
      return {
        texts: texts.map(({ nth, body }) => ({ nth, body })),
        hasMore: texts.length < rows.length,
      }
    },
    list: (threadId, incarnation) => run<Share>(sql.list, [threadId, incarnation ?? null]),
    remove: async (threadId, id, incarnation) =>
      (await run(sql.remove, [threadId, id, incarnation ?? null])).length > 0,
  }
}

/** Runs when the thread is deleted. */
export const deleteSharesStatement = (schema: string): Statement => ({
  name: 'holdfast-delete-shares',
  text: `WITH gone AS (DELETE FROM ${schema}.shares WHERE thread_id = $1 RETURNING id)
    DELETE FROM ${schema}.share_messages WHERE share_id IN (SELECT id FROM gone)`,
})

export function createShareStatements(schema: string) {
  const shares = `${schema}.shares`
  const texts = `${schema}.share_messages`
  // A link counts only while its thread is the incarnation that it was made of.
  const ofThread = `JOIN ${schema}.threads AS t ON t.id = s.thread_id AND t.incarnation = s.incarnation`
  return {
    lock: toCompactStatement(
      'lock-shares',
      `SELECT id FROM ${schema}.threads WHERE id = $1 AND ${ofKnown('incarnation', '$2')} FOR UPDATE`,
    ),
    dropUnfinished: toCompactStatement(
      'drop-unfinished-shares',
      `WITH gone AS (DELETE FROM ${shares}
         WHERE thread_id = $1 AND seq IS NULL AND created_at < $2::bigint RETURNING id)
       DELETE FROM ${texts} WHERE share_id IN (SELECT id FROM gone)`,
    ),
    count: toCompactStatement(
      'count-shares',
      `SELECT count(*)::integer AS count FROM ${shares} AS s ${ofThread} WHERE s.thread_id = $1`,
    ),
    begin: toCompactStatement(
      'begin-share',
      `INSERT INTO ${shares} (id, thread_id, incarnation, created_at)
       SELECT $1, id, incarnation, $3::bigint FROM ${schema}.threads WHERE id = $2`,
    ),
    add: toCompactStatement(
      'add-shared-texts',
      `INSERT INTO ${texts} (share_id, nth, body)
       SELECT s.id, n.nth, n.body FROM unnest($2::integer[], $3::text[]) AS n(nth, body)
       JOIN ${shares} AS s ON s.id = $1 AND s.seq IS NULL ON CONFLICT DO NOTHING`,
    ),
    finish: toCompactStatement(
      'finish-share',
      `UPDATE ${shares} AS s SET seq = $2::bigint, title = $3, names = $4 FROM ${schema}.threads AS t
       WHERE s.id = $1 AND t.id = s.thread_id AND t.incarnation = s.incarnation RETURNING s.id`,
    ),
    read: toCompactStatement(
      'read-share',
      `SELECT s.id, s.thread_id AS "threadId", t.owner_id AS "ownerId", s.created_at AS "createdAt", s.seq,
         s.title, s.names FROM ${shares} AS s ${ofThread} WHERE s.id = $1 AND s.seq IS NOT NULL`,
    ),
    readTexts: toCompactStatement(
      'read-shared-texts',
      `SELECT nth, CASE WHEN is_more THEN '' ELSE body END AS body, is_more AS "isMore" FROM (
         SELECT nth, body, row_number() OVER w > $3::bigint OR coalesce(sum(octet_length(body))
           OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) >= $4::bigint AS is_more
         FROM (SELECT nth, body FROM ${texts} WHERE share_id = $1 AND nth < $2::bigint
           ORDER BY nth DESC LIMIT $3::bigint + 1) AS found
         WINDOW w AS (ORDER BY nth DESC)) AS measured ORDER BY nth DESC`,
    ),
    list: toCompactStatement(
      'list-shares',
      `SELECT s.id, s.thread_id AS "threadId", s.created_at AS "createdAt", s.seq FROM ${shares} AS s ${ofThread}
       WHERE s.thread_id = $1 AND ${ofKnown('s.incarnation', '$2')} AND s.seq IS NOT NULL
       ORDER BY s.created_at DESC, s.id DESC`,
    ),
    remove: toCompactStatement(
      'remove-share',
      `WITH gone AS (DELETE FROM ${shares}
           WHERE thread_id = $1 AND id = $2 AND ${ofKnown('incarnation', '$3')} RETURNING id),
         emptied AS (DELETE FROM ${texts} WHERE share_id IN (SELECT id FROM gone))
       SELECT id FROM gone`,
    ),
  }
}
