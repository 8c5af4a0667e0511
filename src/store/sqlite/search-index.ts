import type { MessageId, ThreadId } from '../../core/ids.ts'
import { type PausableWork, portionsOf, runToEnd, sortInSteps } from '../../core/pausable-work.ts'
import type { SearchTerms } from '../../views/search-text.ts'
import type { StatementAccess, ThreadKey } from './prepared-statement.ts'
import { candidatesAtOnce, mostCandidates, type SearchStatements } from './search-sql.ts'
import type { IndexedTexts, SearchHit, SearchIndex, SearchPlace, UnreadThread } from '../search.ts'

/**
 * The bytes of words that one statement searches for the beginning of a word, some milliseconds. A single text may have
 * almost as many (OP7).
 */
const bytesAtOnce = 1_000_000

interface SearchAccess {
  readonly search: SearchStatements
}

interface SearchConnection extends StatementAccess<SearchAccess> {
  /** For work that takes longer than a turn of the event loop may. */
  readonly writeInSteps: <Result>(
    work: (statements: SearchAccess) => PausableWork<Result>,
  ) => Promise<Result>
}

/** More than may be written in one turn of the event loop (OP7). */
const manyWords = 2_000
/** At least, in a text of many words: they differ, so that few are shorter, and a space follows each. */
const bytesPerWord = 4

export const createSqliteSearch = ({
  read,
  write,
  writeInSteps,
}: SearchConnection): SearchIndex => ({
  async findUnread(ownerId, limit, before = Number.MAX_SAFE_INTEGER) {
    const found: UnreadThread[] = []
    for (let place = before; place > 0 && found.length < limit;) {
      const some = await read(({ search }) => findUnread(search, ownerId, place, limit))
      found.push(...some.unread)
      place = some.oldest
    }
    return found.slice(0, limit)
  },
  async addTexts(indexed) {
    if (indexed.from === -1) await deleteOtherTexts({ read, write }, indexed)
    const words = await read(({ search }) => countWrites(search, indexed))
    await (words > manyWords
      ? writeInSteps(({ search }) => addTexts(search, indexed))
      : write(({ search }) => runToEnd(addTexts(search, indexed))))
  },
  async find({ ownerId, terms, limit, before }) {
    const source = await read(({ search }) => findSource(search, ownerId, terms))
    if (source === null) return []
    const hits: SearchHit[] = []
    for (let after: SearchPlace | null = before ?? newest; after !== null && hits.length < limit;) {
      const place: SearchPlace = after
      const candidates = await read(({ search }) => findCandidates(search, source, place))
      for (const portion of portionsByBytes(candidates)) {
        if (hits.length >= limit) break
        hits.push(...(await read(({ search }) => findMatches(search, portion, terms))))
      }
      const last = candidates.length < candidatesAtOnce ? undefined : candidates.at(-1)
      after = last === undefined ? null : [last.at, last.id]
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

/** A text whose words are being deleted, those from `next` on are left. It is deleted after them. */
export interface TextLeft extends Pick<TextRow, 'id' | 'owner'> {
  readonly words: readonly string[]
  readonly next: number
}

/** The words that are deleted between two looks at the clock: one text may have 20,000 (OP7). */
const deletedAtOnce = 250

/**
 * Deletes some of the words and texts of a thread, and returns how many rows, and what is left of the text that it ended
 * in; 0 rows: nothing is left. Without `begun` it begins with the first text again, of which some words may be gone
 * already: so the next process goes on where this one died.
 */
export function deleteSomeWords(
  search: SearchStatements,
  thread: ThreadKey,
  begun: TextLeft | null,
): { readonly rows: number; readonly left: TextLeft | null } {
  let rows = 0
  let left = begun
  while (rows < deletedAtOnce) {
    left ??= readFirstText(search, thread)
    if (left === null) break
    const { id, owner, words, next } = left
    const some = words.slice(next, next + deletedAtOnce - rows)
    for (const word of some) search.deleteWord.run(owner, word, id)
    rows += some.length
    left = { ...left, next: next + some.length }
    if (left.next < words.length) continue
    search.deleteText.run(id)
    search.deleteOwners.run(owner)
    rows++
    left = null
  }
  return { rows, left }
}

function readFirstText(search: SearchStatements, thread: ThreadKey): TextLeft | null {
  const text = search.readFirstText.get(thread) as unknown as TextRow | undefined
  if (text === undefined) return null
  return { id: text.id, owner: text.owner, words: wordsOf(text), next: 0 }
}

const wordsOf = ({ words }: TextRow): readonly string[] =>
  words.split(' ').filter((word) => word !== '')

/** Deletes the indexed seq of a thread, after its texts. */
export const deleteTextState = (search: SearchStatements, thread: ThreadKey): void =>
  void search.deleteState.run(thread)

/** Deleted by their keys: an index of words by text would be as large as the words. */
function* deleteWords(search: SearchStatements, text: TextRow): PausableWork<void> {
  for (const portion of portionsOf(wordsOf(text))) {
    for (const word of portion) search.deleteWord.run(text.owner, word, text.id)
    yield
  }
}

interface ThreadState {
  readonly thread: ThreadKey
  readonly ownerId: string
  readonly incarnation: string
  /** What is indexed under the thread's number, and up to which seq; null: nothing. */
  readonly of: string | null
  readonly seq: number | null
  readonly hasTexts: number
}

/** Undefined: the thread is gone. */
function readState(
  search: SearchStatements,
  { threadId, incarnation }: IndexedTexts,
): ThreadState | undefined {
  const state = search.readState.get(threadId) as ThreadState | undefined
  return state?.incarnation === incarnation ? state : undefined
}

/**
 * Deletes the texts of an earlier thread with this one's number, which a version without search has deleted. In
 * transactions of their own, because there may be as many as of any thread: together with the new texts they would hold
 * up other writers for seconds (OP7).
 */
async function deleteOtherTexts(
  { read, write }: Pick<SearchConnection, 'read' | 'write'>,
  indexed: IndexedTexts,
): Promise<void> {
  const findOther = (search: SearchStatements) => {
    const state = readState(search, indexed)
    const isOther = state?.of !== indexed.incarnation && state?.hasTexts === 1
    return isOther ? state.thread : null
  }
  if ((await read(({ search }) => findOther(search))) === null) return
  let step: ReturnType<typeof deleteSomeWords> = { rows: 1, left: null }
  while (step.rows > 0) {
    const { left } = step
    step = await write(({ search }) => {
      const thread = findOther(search)
      return thread === null ? { rows: 0, left } : deleteSomeWords(search, thread, left)
    })
  }
}

/** About how many words are deleted and added. */
function countWrites(search: SearchStatements, { threadId, texts }: IndexedTexts): number {
  const seqs = JSON.stringify(texts.map(({ seq }) => seq))
  const { bytes } = search.measureTexts.get({ threadId, seqs }) as { readonly bytes: number }
  return texts.reduce((sum, { words }) => sum + words.length, bytes / bytesPerWord)
}

function* addTexts(search: SearchStatements, indexed: IndexedTexts): PausableWork<void> {
  const { incarnation, from, to, texts } = indexed
  const state = readState(search, indexed)
  if (state === undefined) return
  const { thread } = state
  const isOther = state.of !== incarnation
  // With texts of an earlier thread left, they would count as this one's.
  if (from !== (isOther ? -1 : state.seq) || (isOther && state.hasTexts === 1)) return
  search.addOwner.run(state.ownerId)
  const { owner } = search.readOwner.get(state.ownerId) as { readonly owner: number }
  const added: [string, number][] = []
  for (const { seq, at, words } of texts) {
    const before = search.readText.get(thread, seq) as unknown as TextRow | undefined
    const joined = ` ${words.join(' ')} `
    yield
    if (before?.words === joined) continue
    if (before !== undefined) yield* deleteWords(search, before)
    const { id } = search.addText.get(owner, thread, seq, at, joined) as {
      readonly id: number
    }
    for (const word of words) added.push([word, id])
  }
  yield
  // In the order of the table's key: neighbouring rows are then written to the same page.
  const sorted = yield* sortInSteps(added, ([left], [right]) =>
    left < right ? -1 : left > right ? 1 : 0,
  )
  for (const portion of portionsOf(sorted)) {
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

interface Candidate {
  readonly id: number
  readonly at: number
  /** Of its words. */
  readonly bytes: number
}

/** The next candidates, newest first. */
function findCandidates(
  search: SearchStatements,
  { owner, rarest }: SearchSource,
  [at, id]: SearchPlace,
): readonly Candidate[] {
  const found =
    rarest === null
      ? search.newestTexts.all({ owner, at, id })
      : search.textsWithWord.all({ owner, at, id, from: rarest[0], to: rarest[1] })
  return found as unknown as readonly Candidate[]
}

/** As many as one statement compares with the terms, and at least one. */
function* portionsByBytes(candidates: readonly Candidate[]): Generator<readonly Candidate[]> {
  let portion: Candidate[] = []
  let sum = 0
  for (const candidate of candidates) {
    sum += candidate.bytes
    if (portion.length > 0 && sum > bytesAtOnce) {
      yield portion
      portion = []
      sum = candidate.bytes
    }
    portion.push(candidate)
  }
  if (portion.length > 0) yield portion
}

/** Those of the candidates that contain all terms and are shown. */
function findMatches(
  search: SearchStatements,
  candidates: readonly Candidate[],
  { words, prefix }: SearchTerms,
): readonly SearchHit[] {
  const rows = search.findMatches.all({
    texts: JSON.stringify(candidates.map(({ id }) => id)),
    words: JSON.stringify(words),
    prefix: prefix === null ? null : ` ${prefix}`,
  }) as unknown as readonly HitRow[]
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
