import type { CallId, OwnerId, Seq, ThreadId } from './ids.ts'
import type { FileId } from './file.ts'

/** Of a link: 192 random bits, so that nobody finds one by trying. */
export type ShareId = string

export const isShareId = (value: unknown): value is ShareId =>
  typeof value === 'string' && /^shr_[\w-]{32}$/.test(value)

/** A link by which anybody may read a thread as it was at a seq (FK5). */
export interface Share {
  readonly id: ShareId
  readonly threadId: ThreadId
  /** Where the thread stood: nothing that came after it is shown. */
  readonly seq: Seq
  /** When it was made, in milliseconds since 1970. */
  readonly createdAt: number
}

/** The same with all that its readers need to know. */
export interface StoredShare extends Share {
  /** Whose thread it is. No reader is told. */
  readonly ownerId: OwnerId
  /** Of the thread, as it was. */
  readonly title: string
  /** The files that what was shared names: these and no others can be read through the link. */
  readonly files: readonly FileId[]
  /** The calls whose results are too large for a page: the same goes for these. */
  readonly calls: readonly CallId[]
}

const fileAddress = /"(?:\/[^"?#]*)?\/api\/files\/(file_[0-9a-f]{32})"/g

/** A JSON text in which every address of a file is the one under which readers of a link find it. */
export const withSharedFiles = (json: string, id: ShareId, basePath: string): string =>
  json.replaceAll(fileAddress, (_, file: string) =>
    JSON.stringify(`${basePath}/api/shares/${id}/files/${file}`),
  )

/** Whether an address is that of a file which is read through a link. */
export const isSharedFile = (url: string): boolean =>
  /^(?:\/[^?#]*)?\/api\/shares\/shr_[\w-]{32}\/files\/file_[0-9a-f]{32}$/.test(url)
