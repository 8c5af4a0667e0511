import type { CallId, OwnerId, Seq, ThreadId } from './ids.ts'
import type { FileId } from './file.ts'

/** The id of a link: 192 random bits, so that it cannot be guessed. */
export type ShareId = string

export const isShareId = (value: unknown): value is ShareId =>
  typeof value === 'string' && /^shr_[\w-]{32}$/.test(value)

/** A link under which anyone may read a thread as it was at a seq (FK5). */
export interface Share {
  readonly id: ShareId
  readonly threadId: ThreadId
  /** The thread's seq when the link was made: nothing after it is shown. */
  readonly seq: Seq
  /** When it was made, in milliseconds since 1970. */
  readonly createdAt: number
}

/** A link with what its routes need to serve readers. */
export interface StoredShare extends Share {
  /** The owner of the thread. Never sent to a reader of the link. */
  readonly ownerId: OwnerId
  /** The title of the thread when the link was made. */
  readonly title: string
  /** The files that the shared messages refer to: only these can be read through the link. */
  readonly files: readonly FileId[]
  /** The calls whose results are too large for a page: only their results can be read through the link. */
  readonly calls: readonly CallId[]
}

const fileAddress = /"(?:\/[^"?#]*)?\/api\/files\/(file_[0-9a-f]{32})"/g

/** A JSON text in which every file URL is replaced by the one for readers of a link. */
export const withSharedFiles = (json: string, id: ShareId, basePath: string): string =>
  json.replaceAll(fileAddress, (_, file: string) =>
    JSON.stringify(`${basePath}/api/shares/${id}/files/${file}`),
  )

/** Whether a URL is that of a file read through a link. */
export const isSharedFile = (url: string): boolean =>
  /^(?:\/[^?#]*)?\/api\/shares\/shr_[\w-]{32}\/files\/file_[0-9a-f]{32}$/.test(url)
