import type { FileId } from '../core/file.ts'

/**
 * Where the bytes of files are. What is known of a file (its owner, its type, who names it) is in the database; a file
 * store has bytes under ids and judges nothing.
 */
export interface FileStore {
  readonly kind: string
  /**
   * Keeps the bytes under an id that is new, as they come and without holding all of them at once. If the source or the
   * store fails it rejects, and what was written may stay behind until `remove`.
   */
  write(id: FileId, content: AsyncIterable<Uint8Array>, about: FileAbout): Promise<void>
  /** The bytes, or those of a range; null if there are none. */
  read(id: FileId, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>
  /** What is not there is as good as removed. */
  remove(id: FileId): Promise<void>
  /** An address under which anybody can fetch the file for a while: for models that fetch files themselves. */
  link?(id: FileId, seconds: number): Promise<string>
}

export interface FileAbout {
  readonly mediaType: string
}

/** The first and the last byte, counted from 0. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Pieces cut to a range of what they are together. */
export async function* cutToRange(
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
