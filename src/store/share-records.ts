import type { ThreadId } from '../core/ids.ts'
import type { Share, ShareId, StoredShare } from '../core/share.ts'

/**
 * What a database keeps of links to threads (FK5). What a link shows is a copy of its own, so that nothing which happens to the thread
 * later can be seen through it; it cannot be read before all of it is there, and goes with its thread. A thread that was
 * deleted and made anew under the same id is another one, and has none of the links.
 */
export interface ShareRecords {
  /** The row of a link that is about to be made. Those that nobody finished since `unfinishedBefore` are taken out first. */
  begin(share: NewShare): Promise<'begun' | 'no-thread' | 'full'>
  /** Adds to what it shows, in the order of the thread, while it is not finished. */
  add(id: ShareId, messages: readonly SharedText[]): Promise<void>
  /** From now on it can be read. False: the thread is gone, and the link with it. */
  finish(share: FinishedShare): Promise<boolean>
  /** Null if there is none, it is not finished, or its thread is gone. */
  read(id: ShareId): Promise<StoredShare | null>
  /** Newest first. The first is there whatever its size. */
  readTexts(query: SharedTextsQuery): Promise<SharedTexts>
  /** Of a thread, newest first; those that are not finished are none. */
  list(threadId: ThreadId): Promise<readonly Share[]>
  /** Takes it out with all that it shows. False: the thread has no such link. */
  remove(threadId: ThreadId, id: ShareId): Promise<boolean>
}

export interface NewShare {
  readonly id: ShareId
  readonly threadId: ThreadId
  readonly at: number
  /** How many a thread may have, those that are not finished among them. */
  readonly most: number
  readonly unfinishedBefore: number
}

export type FinishedShare = Pick<StoredShare, 'id' | 'seq' | 'title' | 'files' | 'calls'>

/** One message, as JSON text. */
export interface SharedText {
  /** Its place, counted from 1. */
  readonly nth: number
  readonly body: string
}

export interface SharedTextsQuery {
  readonly id: ShareId
  /** Only what stands before this place; null: from the end on. */
  readonly before: number | null
  readonly limit: number
  /** About how many bytes to read at most. */
  readonly maxBytes: number
}

export interface SharedTexts {
  readonly texts: readonly SharedText[]
  readonly hasMore: boolean
}

/** What a row says of the files and calls of a link, as JSON text. */
export const toShareNames = ({ files, calls }: Pick<StoredShare, 'files' | 'calls'>): string =>
  JSON.stringify({ files, calls })

/** What cannot be read counts as none: nothing may be read through a link because of a damaged row. */
export function readShareNames(text: string): Pick<StoredShare, 'files' | 'calls'> {
  try {
    const { files, calls } = JSON.parse(text) as Partial<Record<'files' | 'calls', unknown>>
    return { files: toStrings(files), calls: toStrings(calls) }
  } catch {
    // Not JSON: see above.
    return { files: [], calls: [] }
  }
}

const toStrings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
