import type { MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { UserMessage } from '../core/message.ts'
import type { SearchTerms } from '../views/search-text.ts'

/**
 * The index that search looks in: the words of titles and texts, by thread and place. It is no truth of its own: it says of each
 * thread up to which seq it has read, is brought up to date before it is asked, and what it finds counts only where
 * the message is shown at that moment. So nothing has to be written to it beside a commit, and a program that does not
 * know of it may write to the same database.
 */
export interface SearchIndex {
  /** Threads of the owner that have changed since they were read, some at a time; empty: the index is up to date. */
  findUnread(ownerId: OwnerId, limit: number): Promise<readonly UnreadThread[]>
  /**
   * Puts texts in the place of those that stood at their seqs, and says that the thread has been read up to `to`. Nothing is written
   * where it has been read up to something else than `from` meanwhile, or the thread is gone.
   */
  addTexts(texts: IndexedTexts): Promise<void>
  /** Newest first; only what is shown. */
  find(query: SearchQuery): Promise<readonly SearchHit[]>
}

/** As of one read. */
export interface UnreadThread {
  readonly threadId: ThreadId
  readonly incarnation: string
  readonly title: string
  readonly createdAt: number
  /** Up to which seq it has been read; -1: not at all, or it was another thread of this id. */
  readonly from: Seq
}

export interface IndexedTexts {
  readonly threadId: ThreadId
  readonly incarnation: string
  readonly from: Seq
  readonly to: Seq
  /** One for each seq at most. The title stands at 0. */
  readonly texts: readonly IndexedText[]
}

export interface IndexedText {
  readonly seq: Seq
  readonly at: number
  /** As `toSearchWords` makes them. */
  readonly words: readonly string[]
}

export interface SearchQuery {
  readonly ownerId: OwnerId
  readonly terms: SearchTerms
  readonly limit: number
  /** The place of the last hit of the page before. */
  readonly before: SearchPlace | null
}

/** The time of what was found, and a number of the index that is its own. */
export type SearchPlace = readonly [at: number, id: number]

export interface SearchHit {
  readonly place: SearchPlace
  readonly threadId: ThreadId
  readonly title: string
  /** Null: the title was found. */
  readonly message: {
    readonly id: MessageId
    readonly role: UserMessage['role'] | 'assistant'
  } | null
}
