import type { MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { UserMessage } from '../core/message.ts'
import type { SearchTerms } from '../views/search-text.ts'

/**
 * The index of search: the words of titles and texts, by thread and seq. It is derived data: it records for
 * each thread up to which seq it has read, is brought up to date before each search, and a hit counts only
 * while its message is shown. So no commit has to write to it, and a version of Holdfast without search may
 * write to the same database.
 */
export interface SearchIndex {
  /**
   * Threads of the owner that changed since they were indexed, the last active first, at most `limit`. With `before` only
   * those of less activity, so that a pass over all of them goes over none twice. Fewer than `limit`: there are no more.
   */
  findUnread(ownerId: OwnerId, limit: number, before?: number): Promise<readonly UnreadThread[]>
  /**
   * Replaces the texts at these seqs, and records that the thread is indexed up to `to`. Writes nothing if
   * the thread's indexed seq is no longer `from`, or the thread is gone.
   */
  addTexts(texts: IndexedTexts): Promise<void>
  /** Newest first; only messages that are shown. */
  find(query: SearchQuery): Promise<readonly SearchHit[]>
}

/** From one read. */
export interface UnreadThread {
  readonly threadId: ThreadId
  readonly incarnation: string
  readonly title: string
  readonly createdAt: number
  /** Its position in the list of threads: no two have the same. */
  readonly activity: number
  /** The seq up to which it is indexed; -1: not indexed, or indexed as an earlier thread of this id. */
  readonly from: Seq
}

/** The texts of one thread to index, for the seqs after `from` up to `to`. */
export interface IndexedTexts {
  readonly threadId: ThreadId
  readonly incarnation: string
  readonly from: Seq
  readonly to: Seq
  /** At most one for each seq. The title has seq 0. */
  readonly texts: readonly IndexedText[]
}

/** The words of one message, or of the title. */
export interface IndexedText {
  readonly seq: Seq
  readonly at: number
  /** As `toSearchWords` makes them. */
  readonly words: readonly string[]
}

/** A page of a search among the threads of one owner. */
export interface SearchQuery {
  readonly ownerId: OwnerId
  readonly terms: SearchTerms
  readonly limit: number
  /** The position of the last hit of the page before. */
  readonly before: SearchPlace | null
}

/** The time of the hit, and the index's own number for it, which breaks ties. */
export type SearchPlace = readonly [at: number, id: number]

/** A message or a title that matches. */
export interface SearchHit {
  readonly place: SearchPlace
  readonly threadId: ThreadId
  readonly title: string
  /** Null: the hit is the title. */
  readonly message: {
    readonly id: MessageId
    readonly role: UserMessage['role'] | 'assistant'
  } | null
}
