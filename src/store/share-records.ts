import type { ThreadId } from '../core/ids.ts'
import type { Share, ShareId, StoredShare } from '../core/share.ts'

/**
 * The rows of links to threads (FK5). A link has its own copy of what it shows, so that no later change of
 * the thread can be seen through it; it can be read only once it is complete, and is deleted with its thread.
 * A thread that was deleted and made again under the same id has none of the old links.
 */
export interface ShareRecords {
  /**
   * Inserts the row of a link, after deleting those that were begun before `unfinishedBefore` and never
   * finished.
   */
  begin(share: NewShare): Promise<'begun' | 'no-thread' | 'full'>
  /** Adds messages to an unfinished link, in the order of the thread. */
  add(id: ShareId, messages: readonly SharedText[]): Promise<void>
  /** Makes the link readable. False: the thread was deleted, and the link with it. */
  finish(share: FinishedShare): Promise<boolean>
  /** Null if it does not exist, is unfinished, or its thread is gone. */
  read(id: ShareId): Promise<StoredShare | null>
  /** Newest first. The first message is returned whatever its size. */
  readTexts(query: SharedTextsQuery): Promise<SharedTexts>
  /** The finished links of a thread, newest first. `incarnation`: none of another thread under its id. Default: any. */
  list(threadId: ThreadId, incarnation?: string): Promise<readonly Share[]>
  /** Deletes the link and its copy. False: the thread has no such link. `incarnation`: as in `list`. */
  remove(threadId: ThreadId, id: ShareId, incarnation?: string): Promise<boolean>
}

/** A link to begin. */
export interface NewShare {
  readonly id: ShareId
  readonly threadId: ThreadId
  /** Of the thread that was read: another one under its id is `no-thread`. Default: any. */
  readonly incarnation?: string | undefined
  readonly at: number
  /** How many links the thread may have, including unfinished ones. */
  readonly most: number
  readonly unfinishedBefore: number
}

/** What `ShareRecords.finish` adds to a link. */
export type FinishedShare = Pick<StoredShare, 'id' | 'seq' | 'title' | 'files' | 'calls'>

/** One message, as JSON text. */
export interface SharedText {
  /** Its position, counted from 1. */
  readonly nth: number
  readonly body: string
}

/** A page of the messages of a link. */
export interface SharedTextsQuery {
  readonly id: ShareId
  /** Only messages before this position; null: from the end. */
  readonly before: number | null
  readonly limit: number
  /** About how many bytes to read at most. */
  readonly maxBytes: number
}

/** A page of the messages of a link, newest first. */
export interface SharedTexts {
  readonly texts: readonly SharedText[]
  readonly hasMore: boolean
}

/** The files and calls of a link, as the JSON text of its row. */
export const toShareNames = ({ files, calls }: Pick<StoredShare, 'files' | 'calls'>): string =>
  JSON.stringify({ files, calls })

/**
 * A text that cannot be parsed counts as no files and no calls: a damaged row must not open anything to
 * readers.
 */
export function readShareNames(text: string): Pick<StoredShare, 'files' | 'calls'> {
  try {
    const { files, calls } = JSON.parse(text) as Partial<Record<'files' | 'calls', unknown>>
    return { files: toStrings(files), calls: toStrings(calls) }
  } catch {
    // Not JSON: none, as above.
    return { files: [], calls: [] }
  }
}

const toStrings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
