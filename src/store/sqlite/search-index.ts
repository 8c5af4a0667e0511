import type { DatabaseSync } from 'node:sqlite'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { type PausableWork, portionsOf, runToEnd } from '../../core/pausable-work.ts'
import type { SearchTerms } from '../../views/search-text.ts'
import { nobodys } from './ledger-sql.ts'
import type { IndexedTexts, SearchHit, SearchIndex, SearchPlace, UnreadThread } from '../search.ts'

/** The key of a thread in this database. */
type ThreadKey = number

export function prepareSearchStatements(db: DatabaseSync) {
  return {
    // The oldest of so many threads, and those of them that are behind.
    skipThreads:
      db.prepare(`SELECT activity FROM threads WHERE owner_id = :owner AND activity < :before
      ORDER BY activity DESC LIMIT 1 OFFSET ${threadsAtOnce - 1}`),
    findUnread:
      db.prepare(`SELECT t.id AS threadId, t.incarnation, t.title, t.created_at AS createdAt,
      CASE WHEN s.incarnation = t.incarnation THEN s.seq ELSE -1 END AS "from"
      FROM threads t LEFT JOIN search_threads s ON s.thread = t.thread
      WHERE t.owner_id = :owner AND t.activity < :before AND t.activity >= :oldest
        AND (s.seq IS NULL OR s.incarnation <> t.incarnation OR s.seq <> t.seq)
      ORDER BY t.activity DESC LIMIT :limit + 0`),
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
    newestTexts: db.prepare(`SELECT id, at FROM search_texts INDEXED BY search_texts_by_time
      WHERE owner = :owner AND (at, id) < (:at, :id) ORDER BY at DESC, id DESC LIMIT ${checkedAtOnce}`),
    textsWithWord: db.prepare(`SELECT s.id, s.at FROM
      (SELECT DISTINCT text FROM search_words WHERE owner = :owner AND word >= :from AND word < :to) w
      CROSS JOIN search_texts s ON s.id = w.text WHERE s.owner = :owner AND (s.at, s.id) < (:at, :id)
      ORDER BY s.at DESC, s.id DESC LIMIT ${checkedAtOnce}`),
    findMatches:
      db.prepare(`SELECT s.id, s.at, s.seq, t.id AS threadId, t.title, m.message_id AS messageId, m.role
      FROM json_each(:texts) c CROSS JOIN search_texts s ON s.id = c.value JOIN threads t ON t.thread = s.thread
      LEFT JOIN messages m ON m.thread = s.thread AND m.seq = s.seq AND m.retired_seq IS NULL
      WHERE t.owner_id NOT IN ${nobodys} AND (s.seq = 0 OR m.seq IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM json_each(:patterns) p WHERE instr(s.words, p.value) = 0)
      ORDER BY s.at DESC, s.id DESC`),
  }
}
type SearchStatements = ReturnType<typeof prepareSearchStatements>

/**
 * If fewer texts than this contain a word, all of them are checked; otherwise the newest texts are, until
 * enough match.
 */
const mostCandidates = 2_000
/** The texts that one statement compares with the terms: each may have 300,000 characters of words (OP7). */
const checkedAtOnce = 32
/** The threads that one statement looks at. */
const threadsAtOnce = 1_000

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
  async findUnread(ownerId, limit) {
    const found: UnreadThread[] = []
    for (let before = Number.MAX_SAFE_INTEGER; before > 0 && found.length < limit;) {
      const some = await read(({ search }) => findUnread(search, ownerId, before, limit))
      found.push(...some.unread)
      before = some.oldest
    }
    return found.slice(0, limit)
  },
  addTexts: (texts) =>
    texts.texts.reduce((sum, { words }) => sum + words.length, 0) > manyWords
      ? writeInSteps(({ search }) => addTexts(search, texts))
      : write(({ search }) => runToEnd(addTexts(search, texts))),
  async find({ ownerId, terms, limit, before }) {
    const source = await read(({ search }) => findSource(search, ownerId, terms))
    if (source === null) return []
    const hits: SearchHit[] = []
    for (let after: SearchPlace | null = before ?? newest; after !== null && hits.length < limit;) {
      const place: SearchPlace = after
      const some = await read(({ search }) => findTexts(search, source, terms, place))
      hits.push(...some.hits)
      after = some.last
    }
    return hits.slice(0, limit)
  },
})

const newest: SearchPlace = [Number.MAX_SAFE_INTEGER, 0]

/** Those of the next threads that are behind, and how far that was; 0: to the end. */
function findUnread(
  search: SearchStatements,
  owner: string,
  before: number,
  limit: number,
): { readonly unread: readonly UnreadThread[]; readonly oldest: number } {
  const last = search.skipThreads.get({ owner, before }) as
    | { readonly activity: number }
    | undefined
  const oldest = last?.activity ?? 0
  const unread = search.findUnread.all({ owner, before, oldest, limit })
  return { unread: unread as unknown as readonly UnreadThread[], oldest }
}

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

/** Where the candidates of a search come from. */
interface SearchSource {
  readonly owner: number
  /** See `findRarest`. */
  readonly rarest: readonly [string, string] | null
}

/** Null: nothing of the owner is indexed. */
function findSource(
  search: SearchStatements,
  ownerId: string,
  terms: SearchTerms,
): SearchSource | null {
  const found = search.readOwner.get(ownerId) as { readonly owner: number } | undefined
  return found === undefined ? null : { ...found, rarest: findRarest(search, found.owner, terms) }
}

/** The matches among the next candidates, and the last of these; null: there are no more. */
function findTexts(
  search: SearchStatements,
  { owner, rarest }: SearchSource,
  terms: SearchTerms,
  [at, id]: SearchPlace,
): { readonly hits: readonly SearchHit[]; readonly last: SearchPlace | null } {
  const candidates = (rarest === null
    ? search.newestTexts.all({ owner, at, id })
    : search.textsWithWord.all({
        owner,
        at,
        id,
        from: rarest[0],
        to: rarest[1],
      })) as unknown as readonly { readonly id: number; readonly at: number }[]
  const patterns = [
    ...terms.words.map((word) => ` ${word} `),
    ...(terms.prefix === null ? [] : [` ${terms.prefix}`]),
  ]
  const rows = search.findMatches.all({
    texts: JSON.stringify(candidates.map((text) => text.id)),
    patterns: JSON.stringify(patterns),
  }) as unknown as readonly HitRow[]
  const last = candidates.length < checkedAtOnce ? undefined : candidates.at(-1)
  return {
    hits: rows.map((row) => ({
      place: [row.at, row.id],
      threadId: row.threadId,
      title: row.title,
      message:
        row.messageId === null || row.role === null ? null : { id: row.messageId, role: row.role },
    })),
    last: last === undefined ? null : [last.at, last.id],
  }
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
