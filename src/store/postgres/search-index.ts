import type { MessageId, ThreadId } from '../../core/ids.ts'
import { longestTitle } from '../../core/thread.ts'
import type { SearchTerms } from '../../views/search-text.ts'
import type { SearchHit, SearchIndex, UnreadThread } from '../search.ts'
import { type RunStatement, toStatement } from './statement.ts'

interface HitRow {
  readonly at: number
  readonly id: number
  readonly threadId: ThreadId
  readonly title: string
  readonly messageId: MessageId | null
  readonly role: 'user' | 'system' | 'assistant' | null
}

/** `schema` is quoted. */
export function createPostgresSearch(run: RunStatement, schema: string): SearchIndex {
  const statements = searchStatements(schema)
  return {
    findUnread: (ownerId, limit, before = Number.MAX_SAFE_INTEGER) =>
      run<UnreadThread>(statements.findUnread, [ownerId, limit, before]),
    async addTexts({ threadId, incarnation, from, to, texts }) {
      await run(statements.addTexts, [
        threadId,
        incarnation,
        from,
        to,
        texts.map(({ seq }) => seq),
        texts.map(({ at }) => at),
        texts.map(({ words }) => words.join(' ')),
      ])
    },
    async find({ ownerId, terms, limit, before }) {
      const [at, id] = before ?? [Number.MAX_SAFE_INTEGER, 0]
      const values = [ownerId, toQuery(terms), at, id, limit]
      // A common word has enough hits among the newest texts; a rare one is found by the index of words. On
      // its own PostgreSQL scans all texts for a word that it estimates to be common, and estimates so for
      // unknown words.
      const newest = await run<HitRow>(statements.findNewest, values)
      const rows = newest.length === limit ? newest : await run<HitRow>(statements.find, values)
      return rows.map((row): SearchHit => ({
        place: [row.at, row.id],
        threadId: row.threadId,
        title: row.title,
        message:
          row.messageId === null || row.role === null
            ? null
            : { id: row.messageId, role: row.role },
      }))
    },
  }
}

/** Words have letters and digits only, so nothing in them has to be escaped. */
const toQuery = ({ words, prefix }: SearchTerms): string =>
  [...words.map((word) => `'${word}'`), ...(prefix === null ? [] : [`'${prefix}':*`])].join(' & ')

/** As far as it is shown: a host may have stored a longer one. */
const title = `left(t.title, ${longestTitle}) AS title`

export const searchStatements = (schema: string) => ({
  // The LIMIT makes it a probe per thread: as a plain join, the indexed seqs of all owners would be read.
  findUnread: toStatement(
    'find-unread',
    `SELECT t.id AS "threadId", t.incarnation, ${title}, t.created_at AS "createdAt", t.activity,
       CASE WHEN s.incarnation = t.incarnation THEN s.seq ELSE -1 END AS "from"
     FROM ${schema}.threads t LEFT JOIN LATERAL (
       SELECT incarnation, seq FROM ${schema}.search_threads WHERE thread_id = t.id LIMIT 1) s ON true
     WHERE t.owner_id = $1 AND t.activity < $3::bigint
       AND (s.seq IS NULL OR s.incarnation <> t.incarnation OR s.seq <> t.seq)
     ORDER BY t.activity DESC LIMIT $2`,
  ),
  // Locks the thread against its deletion, which waits and then deletes these rows too; no commit waits for
  // this lock.
  addTexts: toStatement(
    'add-texts',
    `WITH held AS MATERIALIZED (
       SELECT id, owner_id FROM ${schema}.threads WHERE id = $1 AND incarnation = $2 FOR KEY SHARE),
     moved AS (
       INSERT INTO ${schema}.search_threads AS s (thread_id, incarnation, seq)
       SELECT id, $2, $4::bigint FROM held
       ON CONFLICT (thread_id) DO UPDATE SET incarnation = $2, seq = $4::bigint
         WHERE CASE WHEN s.incarnation = $2 THEN s.seq ELSE -1 END = $3::bigint
       RETURNING thread_id),
     gone AS (
       DELETE FROM ${schema}.search_texts AS x USING moved AS w
       WHERE $3::bigint = -1 AND x.thread_id = w.thread_id AND NOT x.seq = ANY ($5::bigint[]))
     INSERT INTO ${schema}.search_texts AS x (thread_id, seq, owner_id, at, words)
     SELECT w.thread_id, n.seq, h.owner_id, n.at, array_to_tsvector(string_to_array(n.words, ' '))
     FROM unnest($5::bigint[], $6::bigint[], $7::text[]) AS n(seq, at, words), moved AS w, held AS h
     ON CONFLICT (thread_id, seq) DO UPDATE SET
       owner_id = excluded.owner_id, at = excluded.at, words = excluded.words`,
  ),
  findNewest: toStatement(
    'find-newest-texts',
    toFind(
      schema,
      `SELECT thread_id, seq, at, id FROM (
         SELECT * FROM ${schema}.search_texts
         WHERE owner_id = $1 AND (at, id) < ($3::bigint, $4::bigint)
         ORDER BY at DESC, id DESC LIMIT ${newestTexts}) AS newest
       WHERE words @@ $2::tsquery
       ORDER BY at DESC, id DESC LIMIT 3 * $5::integer`,
    ),
  ),
  find: toStatement(
    'find-texts',
    toFind(
      schema,
      `SELECT thread_id, seq, at, id FROM ${schema}.search_texts
       WHERE owner_id = $1 AND words @@ $2::tsquery AND (at, id) < ($3::bigint, $4::bigint)`,
    ),
  ),
})

/** How many of the newest texts are checked one by one before the index of words is used. */
const newestTexts = 1_000

const toFind = (schema: string, found: string): string =>
  `WITH s AS MATERIALIZED (${found})
   SELECT s.at, s.id, t.id AS "threadId", ${title}, m.message_id AS "messageId", m.role
   FROM s JOIN ${schema}.threads t ON t.id = s.thread_id
   LEFT JOIN ${schema}.messages m
     ON m.thread_id = s.thread_id AND m.seq = s.seq AND m.retired_seq IS NULL
   WHERE t.owner_id = $1 AND (s.seq = 0 OR m.seq IS NOT NULL)
   ORDER BY s.at DESC, s.id DESC LIMIT $5`
