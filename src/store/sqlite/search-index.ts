import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { type PausableWork, portionsOf, runToEnd } from '../../core/pausable-work.ts'
import type { SearchTerms } from '../../views/search-text.ts'
import { nobodys } from './ledger-sql.ts'
import type { IndexedTexts, SearchHit, SearchIndex, SearchQuery, UnreadThread } from '../search.ts'

/** The key of a thread in this database. */
type ThreadKey = number

/** The statements that do not depend on the search terms, and the database for the one that does. */
export function prepareSearchStatements(db: DatabaseSync) {
  return {
    findUnread:
      db.prepare(`SELECT t.id AS threadId, t.incarnation, t.title, t.created_at AS createdAt,
      CASE WHEN s.incarnation = t.incarnation THEN s.seq ELSE -1 END AS "from"
      FROM threads t LEFT JOIN search_threads s ON s.thread = t.thread
      WHERE t.owner_id = ? AND (s.seq IS NULL OR s.incarnation <> t.incarnation OR s.seq <> t.seq)
      ORDER BY t.activity DESC LIMIT ? + 0`),
    readState: db.prepare(`SELECT t.thread, t.owner_id AS ownerId, t.incarnation,
      s.incarnation AS "of", s.seq FROM threads t LEFT JOIN search_threads s ON s.thread = t.thread
      WHERE t.id = ?`),
    setState: db.prepare(`INSERT INTO search_threads (thread, incarnation, seq) VALUES (?, ?, ?)
      ON CONFLICT (thread) DO UPDATE SET incarnation = excluded.incarnation, seq = excluded.seq`),
    deleteState: db.prepare('DELETE FROM search_threads WHERE thread = ?'),
    addOwner: db.prepare('INSERT INTO search_owners (id) VALUES (?) ON CONFLICT DO NOTHING'),
    readOwner: db.prepare('SELECT owner FROM search_owners WHERE id = ?'),
    readTexts: db.prepare('SELECT id, owner, words FROM search_texts WHERE thread = ? LIMIT ? + 0'),
    deleteText: db.prepare('DELETE FROM search_texts WHERE id = ?'),
    readText: db.prepare('SELECT id, owner, words FROM search_texts WHERE thread = ? AND seq = ?'),
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
    find: (text: string) => db.prepare(text),
  }
}
type SearchStatements = ReturnType<typeof prepareSearchStatements>

/**
 * If fewer texts than this contain a word, all of them are checked; otherwise the newest texts are, until
 * enough match.
 */
const mostCandidates = 2_000

type Transaction = <Result>(
  work: (statements: { readonly search: SearchStatements }) => Result,
) => Promise<Result>

interface SearchConnection {
  readonly read: Transaction
  readonly write: Transaction
  /** For work that takes longer than a turn of the event loop may. */
  readonly writeInSteps: <Result>(
    work: (statements: { readonly search: SearchStatements }) => PausableWork<Result>,
  ) => Promise<Result>
}

/** More than may be written in one turn of the event loop (OP7). */
const manyWords = 2_000

export const createSqliteSearch = ({
  read,
  write,
  writeInSteps,
}: SearchConnection): SearchIndex => ({
  findUnread: (ownerId, limit) =>
    read(
      ({ search }) => search.findUnread.all(ownerId, limit) as unknown as readonly UnreadThread[],
    ),
  addTexts: (texts) =>
    texts.texts.reduce((sum, { words }) => sum + words.length, 0) > manyWords
      ? writeInSteps(({ search }) => addTexts(search, texts))
      : write(({ search }) => runToEnd(addTexts(search, texts))),
  find: (query) => read(({ search }) => findTexts(search, query)),
})

interface TextRow {
  readonly id: number
  readonly owner: number
  /** With a space before and after each word. */
  readonly words: string
}

const textsAtOnce = 5

/** Deletes some of the texts of a deleted thread, and returns how many. */
export function deleteSomeTexts(search: SearchStatements, thread: ThreadKey): number {
  const texts = search.readTexts.all(thread, textsAtOnce) as unknown as readonly TextRow[]
  for (const text of texts) {
    deleteWords(search, text)
    search.deleteText.run(text.id)
    search.deleteOwners.run(text.owner)
  }
  return texts.length
}

/** Deletes the indexed seq of a thread, after its texts. */
export const deleteTextState = (search: SearchStatements, thread: ThreadKey): void =>
  void search.deleteState.run(thread)

/** Deleted by their keys: an index of words by text would be as large as the words. */
function deleteWords(search: SearchStatements, { id, owner, words }: TextRow): void {
  for (const word of words.split(' ')) if (word !== '') search.deleteWord.run(owner, word, id)
}

function* addTexts(search: SearchStatements, indexed: IndexedTexts): PausableWork<void> {
  const { threadId, incarnation, from, to, texts } = indexed
  const state = search.readState.get(threadId) as
    | {
        readonly thread: ThreadKey
        readonly ownerId: string
        readonly incarnation: string
        readonly of: string | null
        readonly seq: number | null
      }
    | undefined
  if (state === undefined || state.incarnation !== incarnation) return
  const { thread } = state
  const isOther = state.of !== incarnation
  if (from !== (isOther ? -1 : state.seq)) return
  if (isOther) while (deleteSomeTexts(search, thread) > 0) yield
  search.addOwner.run(state.ownerId)
  const { owner } = search.readOwner.get(state.ownerId) as { readonly owner: number }
  const added: [string, number][] = []
  for (const { seq, at, words } of texts) {
    const before = search.readText.get(thread, seq) as unknown as TextRow | undefined
    const joined = ` ${words.join(' ')} `
    if (before?.words === joined) continue
    if (before !== undefined) deleteWords(search, before)
    yield
    const { id } = search.addText.get(owner, thread, seq, at, joined) as {
      readonly id: number
    }
    for (const word of words) added.push([word, id])
  }
  yield
  // In the order of the table's key: neighbouring rows are then written to the same page.
  added.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
  yield
  for (const portion of portionsOf(added)) {
    for (const [word, id] of portion) search.addWord.run(owner, word, id)
    yield
  }
  search.setState.run(thread, incarnation, to)
}

interface HitRow {
  readonly id: number
  readonly at: number
  readonly threadId: ThreadId
  readonly title: string
  readonly seq: number
  readonly messageId: MessageId | null
  readonly role: 'user' | 'system' | 'assistant' | null
}

function findTexts(search: SearchStatements, query: SearchQuery): readonly SearchHit[] {
  const { ownerId, terms, limit, before } = query
  const found = search.readOwner.get(ownerId) as { readonly owner: number } | undefined
  if (found === undefined) return []
  const { owner } = found
  const [at, id] = before ?? [Number.MAX_SAFE_INTEGER, 0]
  const rarest = findRarest(search, owner, terms)
  const source =
    rarest === null
      ? 'search_texts s INDEXED BY search_texts_by_time'
      : `(SELECT DISTINCT text FROM search_words WHERE owner = ?1 AND word >= ?2 AND word < ?3) w
         CROSS JOIN search_texts s ON s.id = w.text`
  const edges: readonly SQLInputValue[] = rarest === null ? ['', ''] : rarest
  const patterns = [
    ...terms.words.map((word) => ` ${word} `),
    ...(terms.prefix === null ? [] : [` ${terms.prefix}`]),
  ]
  const rows = search
    .find(
      `SELECT s.id, s.at, s.seq, t.id AS threadId, t.title, m.message_id AS messageId, m.role
       FROM ${source} JOIN threads t ON t.thread = s.thread
       LEFT JOIN messages m ON m.thread = s.thread AND m.seq = s.seq AND m.retired_seq IS NULL
       WHERE s.owner = ?1 AND t.owner_id NOT IN ${nobodys} AND (s.at, s.id) < (?4, ?5)
         AND (s.seq = 0 OR m.seq IS NOT NULL)
         ${patterns.map((_, index) => `AND instr(s.words, ?${index + 7}) > 0`).join(' ')}
       ORDER BY s.at DESC, s.id DESC LIMIT ?6 + 0`,
    )
    .all(owner, ...edges, at, id, limit, ...patterns) as unknown as readonly HitRow[]
  return rows.map((row) => ({
    place: [row.at, row.id],
    threadId: row.threadId,
    title: row.title,
    message:
      row.messageId === null || row.role === null ? null : { id: row.messageId, role: row.role },
  }))
}

/** The key range of the term that the fewest texts contain; null: every term is in many. */
function findRarest(
  search: SearchStatements,
  owner: number,
  terms: SearchTerms,
): readonly [string, string] | null {
  const ranges = [
    // A space sorts before every character of a word.
    ...terms.words.map((word) => [word, `${word} `] as const),
    ...(terms.prefix === null ? [] : [[terms.prefix, `${terms.prefix}\u{10FFFF}`] as const]),
  ]
  let rarest: readonly [string, string] | null = null
  let least = mostCandidates
  for (const range of ranges) {
    const { count } = search.countWord.get(owner, ...range) as { readonly count: number }
    if (count >= least) continue
    least = count
    rarest = range
  }
  return rarest
}
