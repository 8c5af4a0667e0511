import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseOwnerId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import {
  defaultLimit,
  parseLimit,
  parsePlaceCursor,
  toPlaceCursor,
  withCursor,
} from '../../protocol/page-query.ts'
import { createPacer, type Pacer, runPaced } from '../../store/pacer.ts'
import type { SearchHit } from '../../store/search.ts'
import type { Store } from '../../store/store.ts'
import {
  findInMessage,
  parseSearchTerms,
  type SearchTerms,
  toSnippet,
} from '../../views/search-text.ts'
import { checkNames } from '../options/check-names.ts'
import type { SearchFiller } from './search-filler.ts'

/** The arguments of `search`. */
export interface SearchRequest {
  /** The owner whose threads are searched. */
  readonly ownerId: string
  /** Words that must all occur, ignoring case and accents. The last may be a prefix. At most 500 characters. */
  readonly q: string
  /** From 1 to 200. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the previous page of the same search. @default the newest */
  readonly cursor?: string | null
}

/** One search result. */
export interface SearchResult {
  readonly threadId: string
  /** Null: the title matched. */
  readonly messageId: string | null
  /** The title of the thread. */
  readonly title: string
  /** Plain text around the first match, on one line. */
  readonly snippet: string
  /** The positions of the words in the snippet: `[start, end]`. */
  readonly ranges: readonly (readonly [number, number])[]
  /** Who said it, a person also within a turn that their message joined; null for a title. */
  readonly role: 'user' | 'system' | 'assistant' | null
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/** One page of search results, newest first. */
export interface SearchPage {
  readonly results: readonly SearchResult[]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  readonly hasMore: boolean
  /**
   * False: the index of this owner is still being filled, and messages that are not in it yet are missing. A search
   * that is made again later finds them.
   */
  readonly isComplete: boolean
}

const longestQuery = 500

/** Searches titles and texts of an owner's threads, as they are visible now (FK1). */
export async function search(
  store: Store,
  filler: SearchFiller,
  request: SearchRequest,
): Promise<SearchPage> {
  checkNames('search', request, ['ownerId', 'q', 'limit', 'cursor'])
  const ownerId = parseOwnerId(request.ownerId)
  const { q } = request
  if (typeof q !== 'string' || q.length > longestQuery) {
    throw new HoldfastError('bad-request', `"q" is a text of at most ${longestQuery} characters.`)
  }
  const limit = parseLimit(request.limit ?? defaultLimit)
  const terms = parseSearchTerms(q)
  if (terms === null) throw new HoldfastError('bad-request', '"q" has no word to search for.')
  const list = `search ${ownerId} ${JSON.stringify(terms)}`
  const before = withCursor(request.cursor, (cursor) => parseBefore(list, cursor))
  const index = store.search
  if (index === undefined) {
    throw new HoldfastError('no-search', 'The store of this server has no search index.')
  }
  const isComplete = await filler.fill(ownerId)
  const found = await index.find({ ownerId, terms, limit: limit + 1, before })
  const hits = found.slice(0, limit)
  const results: SearchResult[] = []
  const pace = createPacer()
  for (let from = 0; from < hits.length; from += hitsAtOnce) {
    const some = hits.slice(from, from + hitsAtOnce)
    const messages = await Promise.all(some.map((hit) => readHit(store, hit)))
    for (const [nth, hit] of some.entries()) {
      results.push(await toResult(hit, messages[nth] ?? null, terms, pace))
      // A title, like a text with an early hit, is worked on without a pause, and there may be 200 of them (OP7).
      await pace()
    }
  }
  const last = hits.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return {
    results,
    nextCursor: hasMore ? toPlaceCursor(list, { place: last.place }) : null,
    hasMore,
    isComplete,
  }
}

/** Read together: one after the other, each waits for the database in turn. Not all of them: each may be a long text. */
const hitsAtOnce = 5

function parseBefore(list: string, cursor: string): readonly [number, number] {
  const [at, id, ...rest] = parsePlaceCursor(list, cursor).place
  if (at === undefined || id === undefined || rest.length > 0) {
    throw new HoldfastError('bad-cursor', 'This cursor is malformed or belongs to another list.')
  }
  return [at, id]
}

/** The current text. Null: the hit is a title. */
const readHit = async (store: Store, { threadId, message }: SearchHit): Promise<Message | null> =>
  message === null ? null : store.readMessage(threadId, message.id, 'none')

/** If the message is gone meanwhile, the result contains the title only. */
async function toResult(
  { threadId, title, message, place }: SearchHit,
  stored: Message | null,
  terms: SearchTerms,
  pace: Pacer,
): Promise<SearchResult> {
  const found =
    stored === null
      ? { ...toSnippet(title, terms), role: message?.role ?? null }
      : await runPaced(findInMessage(stored, terms), pace)
  return { threadId, messageId: message?.id ?? null, title, ...found, at: place[0] }
}
