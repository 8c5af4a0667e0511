import type { FileId } from '../core/file.ts'

/**
 * Stores the bytes of files. The record of a file (its owner, its type, which threads refer to it) is in the
 * database; a file store holds bytes under ids and makes no decisions.
 */
export interface FileStore {
  readonly kind: string
  /**
   * Stores the bytes under a new id as they arrive, without holding all of them in memory. If the source or
   * the store fails it rejects, and written bytes may remain until `remove`; the source is closed by then.
   */
  write(id: FileId, content: AsyncIterable<Uint8Array>, about: FileAbout): Promise<void>
  /**
   * The bytes, or those of a range; null if there is no such file. A reader may leave at any piece, also before the first:
   * the iterator's `return` then closes whatever is open.
   */
  read(
    id: FileId,
    range?: ByteRange,
    about?: Omit<FileAbout, 'mediaType'>,
  ): Promise<AsyncIterable<Uint8Array> | null>
  /** Succeeds if there is no such file. */
  remove(id: FileId): Promise<void>
  /** A URL under which anyone can fetch the file for a while: for models that fetch files themselves. */
  link?(id: FileId, seconds: number): Promise<string>
}

/** What a file store is given with the bytes. */
export interface FileAbout {
  readonly mediaType: string
  /**
   * For whom: a store that moves few pieces at a time lets people take turns, so that nobody waits for all transfers of
   * another. Others ignore it. @default not known
   */
  readonly user?: string
  /** It belongs to a turn, which has little time for it: it does not wait for uploads and downloads. @default false */
  readonly isForTurn?: boolean
}

/** The first and the last byte, counted from 0. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Cuts a sequence of pieces to a range of their bytes. A reader that leaves closes the source at once: the `return` of a
 * generator alone would wait for the piece that is being read, which may never come, and would not close a source of
 * which nothing was read.
 */
export function cutToRange(
  pieces: AsyncIterable<Uint8Array>,
  range: ByteRange,
): AsyncIterableIterator<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]()
  const cut = cutPieces({ [Symbol.asyncIterator]: () => source }, range)
  return {
    next: () => cut.next(),
    async return() {
      await source.return?.()
      return cut.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* cutPieces(
  pieces: AsyncIterable<Uint8Array>,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const piece of pieces) {
    const from = Math.max(start - at, 0)
    const to = Math.min(end + 1 - at, piece.byteLength)
    at += piece.byteLength
    if (to > from) yield piece.subarray(from, to)
    if (at > end) return
  }
}

/**
 * Writes what a source produces, and closes the source however that ends: a write that fails before its first piece, or
 * between two, would leave open what the pieces are read from.
 */
export async function writeFrom(
  content: AsyncIterable<Uint8Array>,
  write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const source = content[Symbol.asyncIterator]()
  try {
    await write({ [Symbol.asyncIterator]: () => source })
  } finally {
    try {
      await source.return?.()
    } catch {
      // What the write has to report is not how its source was closed.
    }
  }
}
