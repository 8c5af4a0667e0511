import type { DatabaseSync } from 'node:sqlite'
import { longestTitle } from '../../core/thread.ts'
import { nobodys } from './ledger-sql.ts'

/**
 * If fewer texts than this contain a word, all of them are checked; otherwise the newest texts are, until
 * enough match.
 */
export const mostCandidates = 2_000
/** The candidates that one statement lists. */
export const candidatesAtOnce = 32
/** The threads that one statement looks at. */
const threadsAtOnce = 1_000

/** As far as it is shown: a host may have stored a longer one. */
const title = `substr(t.title, 1, ${longestTitle}) AS title`

export function prepareSearchStatements(db: DatabaseSync) {
  return {
    // The oldest of so many threads, and those of them that are behind.
    skipThreads:
      db.prepare(`SELECT activity FROM threads WHERE owner_id = :owner AND activity < :before
      ORDER BY activity DESC LIMIT 1 OFFSET ${threadsAtOnce - 1}`),
    findUnread:
      db.prepare(`SELECT t.id AS threadId, t.incarnation, ${title}, t.created_at AS createdAt, t.activity,
      CASE WHEN s.incarnation = t.incarnation THEN s.seq ELSE -1 END AS "from"
      FROM threads t LEFT JOIN search_threads s ON s.thread = t.thread
      WHERE t.owner_id = :owner AND t.activity < :before AND t.activity >= :oldest
        AND (s.seq IS NULL OR s.incarnation <> t.incarnation OR s.seq <> t.seq)
      ORDER BY t.activity DESC LIMIT :limit + 0`),
    readState: db.prepare(`SELECT t.thread, t.owner_id AS ownerId, t.incarnation,
      s.incarnation AS "of", s.seq, EXISTS (SELECT 1 FROM search_texts x WHERE x.thread = t.thread) AS hasTexts
      FROM threads t LEFT JOIN search_threads s ON s.thread = t.thread WHERE t.id = ?`),
    setState: db.prepare(`INSERT INTO search_threads (thread, incarnation, seq) VALUES (?, ?, ?)
      ON CONFLICT (thread) DO UPDATE SET incarnation = excluded.incarnation, seq = excluded.seq`),
    deleteState: db.prepare('DELETE FROM search_threads WHERE thread = ?'),
    addOwner: db.prepare('INSERT INTO search_owners (id) VALUES (?) ON CONFLICT DO NOTHING'),
    readOwner: db.prepare('SELECT owner FROM search_owners WHERE id = ?'),
    readFirstText: db.prepare('SELECT id, owner, words FROM search_texts WHERE thread = ? LIMIT 1'),
    deleteText: db.prepare('DELETE FROM search_texts WHERE id = ?'),
    readText: db.prepare('SELECT id, owner, words FROM search_texts WHERE thread = ? AND seq = ?'),
    // `octet_length` does not read the words.
    measureTexts:
      db.prepare(`SELECT coalesce(sum(octet_length(s.words)), 0) AS bytes FROM threads t, json_each(:seqs) q
      CROSS JOIN search_texts s ON s.thread = t.thread AND s.seq = q.value WHERE t.id = :threadId`),
    deleteWord: db.prepare('DELETE FROM search_words WHERE owner = ? AND word = ? AND text = ?'),
    // Deletes the row of an owner together with the owner's last text.
    deleteOwners: db.prepare(`DELETE FROM search_owners WHERE owner = ?
      AND NOT EXISTS (SELECT 1 FROM search_texts t WHERE t.owner = search_owners.owner)`),
    addText: db.prepare(`INSERT INTO search_texts (owner, thread, seq, at, words)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT (thread, seq) DO UPDATE SET at = excluded.at,
      words = excluded.words RETURNING id`),
    addWord: db.prepare('INSERT INTO search_words (owner, word, text) VALUES (?, ?, ?)'),
    countWord: db.prepare(`SELECT count(*) AS count FROM (SELECT 1 FROM search_words
      WHERE owner = ? AND word >= ? AND word < ? LIMIT ${mostCandidates})`),
    newestTexts:
      db.prepare(`SELECT id, at, octet_length(words) AS bytes FROM search_texts INDEXED BY search_texts_by_time
      WHERE owner = :owner AND (at, id) < (:at, :id) ORDER BY at DESC, id DESC LIMIT ${candidatesAtOnce}`),
    textsWithWord: db.prepare(`SELECT s.id, s.at, octet_length(s.words) AS bytes FROM
      (SELECT DISTINCT text FROM search_words WHERE owner = :owner AND word >= :from AND word < :to) w
      CROSS JOIN search_texts s ON s.id = w.text WHERE s.owner = :owner AND (s.at, s.id) < (:at, :id)
      ORDER BY s.at DESC, s.id DESC LIMIT ${candidatesAtOnce}`),
    // Words are looked up by their key. Only the beginning of a word is looked for in the text: as a range of keys it
    // would be in the words of every other text too.
    findMatches:
      db.prepare(`SELECT s.id, s.at, s.seq, t.id AS threadId, ${title}, m.message_id AS messageId, m.role
      FROM json_each(:texts) c CROSS JOIN search_texts s ON s.id = c.value JOIN threads t ON t.thread = s.thread
      LEFT JOIN messages m ON m.thread = s.thread AND m.seq = s.seq AND m.retired_seq IS NULL
      WHERE t.owner_id NOT IN ${nobodys} AND (s.seq = 0 OR m.seq IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM json_each(:words) w WHERE NOT EXISTS (
          SELECT 1 FROM search_words h WHERE h.owner = s.owner AND h.word = w.value AND h.text = s.id))
        AND (:prefix IS NULL OR instr(s.words, :prefix) > 0)
      ORDER BY s.at DESC, s.id DESC`),
  }
}
export type SearchStatements = ReturnType<typeof prepareSearchStatements>
