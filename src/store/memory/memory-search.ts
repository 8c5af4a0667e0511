import type { ThreadId } from '../../core/ids.ts'
import { isTurn } from '../../core/message.ts'
import { matchesTerms, searchTextOf, toSearchWords } from '../../views/search-text.ts'
import type { SearchHit, SearchIndex, SearchQuery } from '../search.ts'
import { type MemoryThread, readMemoryMessage } from './memory-thread.ts'

/** The reference: without an index, every text is scanned. */
export const createMemorySearch = (threads: ReadonlyMap<ThreadId, MemoryThread>): SearchIndex => {
  // Numbered on first use, so that hits of the same time keep their order from one page to the next.
  const numbers = new WeakMap<object, number>()
  let last = 0
  const numberOf = (thing: object): number => {
    const number = numbers.get(thing) ?? ++last
    numbers.set(thing, number)
    return number
  }
  return {
    findUnread: async () => [],
    addTexts: async () => {},
    find: async (query) => scan(threads, query, numberOf),
  }
}

function scan(
  threads: ReadonlyMap<ThreadId, MemoryThread>,
  { ownerId, terms, limit, before }: SearchQuery,
  numberOf: (thing: object) => number,
): readonly SearchHit[] {
  const isFound = (text: string) => matchesTerms(new Set(toSearchWords(text)), terms)
  const hits: SearchHit[] = []
  for (const [threadId, stored] of threads) {
    const { title, createdAt } = stored.thread
    if (stored.thread.ownerId !== ownerId) continue
    const number = numberOf(stored)
    if (isFound(title)) hits.push({ place: [createdAt, number], threadId, title, message: null })
    for (const entry of stored.messages) {
      const number = numberOf(entry)
      if (entry.retiredSeq !== null) continue
      const message = readMemoryMessage(stored, entry)
      if (!isFound(searchTextOf(message))) continue
      const role = isTurn(message) ? ('assistant' as const) : message.role
      const { id, createdAt: at } = message
      hits.push({ place: [at, number], threadId, title, message: { id, role } })
    }
  }
  const [at, id] = before ?? [Number.POSITIVE_INFINITY, 0]
  return hits
    .filter(({ place }) => place[0] < at || (place[0] === at && place[1] < id))
    .sort((left, right) => right.place[0] - left.place[0] || right.place[1] - left.place[1])
    .slice(0, limit)
}
