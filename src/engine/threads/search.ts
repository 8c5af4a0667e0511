import { setImmediate } from 'node:timers/promises'
import { isTurnEvent } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId, type Seq, type ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import {
  defaultLimit,
  parseLimit,
  parsePlaceCursor,
  toPlaceCursor,
} from '../../protocol/page-query.ts'
import type { IndexedText, SearchHit, SearchIndex, UnreadThread } from '../../store/search.ts'
import type { Store } from '../../store/store.ts'
import {
  hitRoleOf,
  parseSearchTerms,
  searchTextOf,
  type SearchTerms,
  toSearchWords,
  toSnippet,
} from '../../views/search-text.ts'
import { checkNames } from '../options/check-names.ts'

/** The arguments of `search`. */
export interface SearchRequest {
  /** The owner whose threads are searched. */
  readonly ownerId: string
  /** Words that must all occur, ignoring case and accents. The last may be a prefix. At most 500 characters. */
  readonly q: string
  /** From 1 to 200. @default 25 */
  readonly limit?: number
  /** `nextCursor` of the previous page of the same search. @default the newest */
  readonly cursor?: string
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
}

const longestQuery = 500

/** Searches titles and texts of an owner's threads, as they are visible now (FK1). */
export async function search(store: Store, request: SearchRequest): Promise<SearchPage> {
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
  const before = request.cursor === undefined ? null : parseBefore(list, request.cursor)
  const index = store.search
  if (index === undefined) {
    throw new HoldfastError('no-search', 'The store of this server has no search index.')
  }
  await readUnread(store, index, ownerId)
  const found = await index.find({ ownerId, terms, limit: limit + 1, before })
  const hits = found.slice(0, limit)
  const results: SearchResult[] = []
  for (let from = 0; from < hits.length; from += hitsAtOnce) {
    const some = hits.slice(from, from + hitsAtOnce)
    results.push(...(await Promise.all(some.map((hit) => toResult(store, hit, terms)))))
  }
  const last = hits.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return {
    results,
    nextCursor: hasMore ? toPlaceCursor(list, { place: last.place }) : null,
    hasMore,
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

/** The current text is read: if it is gone meanwhile, the result contains the title only. */
async function toResult(store: Store, hit: SearchHit, terms: SearchTerms): Promise<SearchResult> {
  const { threadId, title, message, place } = hit
  const stored = message === null ? null : await store.readMessage(threadId, message.id, 'lazy')
  const text = stored === null ? title : searchTextOf(stored)
  return {
    threadId,
    messageId: message?.id ?? null,
    title,
    ...toSnippet(text, terms),
    role: stored === null ? (message?.role ?? null) : hitRoleOf(stored, terms),
    at: place[0],
  }
}

/** The number of threads looked up at once, and of changes per read. */
const threadsAtOnce = 50
const changesAtOnce = 200
/**
 * The words of one portion are stored in one transaction: a larger one would block other writers for too long (OP7).
 */
const bytesAtOnce = 131_072

/** Brings the index up to date, in portions between which other work runs. */
async function readUnread(store: Store, index: SearchIndex, ownerId: OwnerId): Promise<void> {
  // Each thread once: one that is being written to is behind again before the next lookup.
  const seen = new Set<string>()
  for (;;) {
    const found = await index.findUnread(ownerId, threadsAtOnce + seen.size)
    const unread = found.filter(({ threadId }) => !seen.has(threadId))
    if (unread.length === 0) return
    for (const thread of unread) {
      seen.add(thread.threadId)
      await readThread(store, index, thread)
      await setImmediate()
    }
  }
}

async function readThread(store: Store, index: SearchIndex, thread: UnreadThread): Promise<void> {
  const { threadId, incarnation, title, createdAt } = thread
  let { from } = thread
  const named = { seq: 0, at: createdAt, words: toSearchWords(title) }
  for (;;) {
    const changes = await store.readChanges({
      threadId,
      after: Math.max(from, 0),
      limit: changesAtOnce,
      results: 'lazy',
      maxBytes: bytesAtOnce,
    })
    if (changes === null || changes.incarnation !== incarnation) return
    const texts = new Map<number, IndexedText>([[0, named]])
    const add = (message: Message) => {
      const { seq, createdAt: at } = message
      texts.set(seq, { seq, at, words: toSearchWords(searchTextOf(message)) })
    }
    const open = new Set<Message['id']>()
    const shown = new Set<Seq>()
    for (const change of changes.changes) {
      if (change.kind === 'turn') add(change.turn)
      else if (isTurnEvent(change.event)) open.add(change.event.turnId)
      else if (change.event.type === 'message-added') add(toUserMessage(change.event))
      else if (change.event.type === 'messages-shown') {
        for (const place of change.event.places) shown.add(place)
      }
    }
    for (const id of open) {
      const turn = await store.readMessage(threadId, id, 'lazy')
      if (turn !== null) add(turn)
    }
    await readShown(store, threadId, shown, add)
    const to = changes.reached
    await index.addTexts({ threadId, incarnation, from, to, texts: [...texts.values()] })
    if (to >= changes.seq) return
    from = to
    await setImmediate()
  }
}

/**
 * An event that shows messages again does not contain them, and a turn that changed while it was hidden is in no
 * change: without this read it would be visible and never found. A message that is hidden again by now is read when it
 * is shown next.
 */
async function readShown(
  store: Store,
  threadId: ThreadId,
  places: ReadonlySet<Seq>,
  add: (message: Message) => void,
): Promise<void> {
  const sorted = [...places].sort((left, right) => left - right)
  const [first] = sorted
  if (first === undefined) return
  for (let before = (sorted.at(-1) ?? first) + 1; before > first;) {
    const query = {
      threadId,
      limit: changesAtOnce,
      before,
      live: 'include',
      results: 'lazy',
    } as const
    const page = await store.readPage({ ...query, maxBytes: bytesAtOnce })
    const last = page?.messages.at(-1)
    if (page === null || last === undefined) return
    for (const message of page.messages) if (places.has(message.seq)) add(message)
    before = last.seq
    await setImmediate()
  }
}
