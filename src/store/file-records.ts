import type { FileId, FileRecord } from '../core/file.ts'
import type { OwnerId, ThreadId } from '../core/ids.ts'

/**
 * What a database knows of files (FL1, FL2). A file is `uploading` until all its bytes are in the file store, `ready` while
 * messages may name it, and `removing` from the moment on at which nobody may: its bytes go, then its row. So a crash
 * leaves no bytes without a row, and the next look goes on where it was.
 *
 * Which thread names which file is written by the commit that names it (`PlannedCommit.files`) and goes with the thread.
 */
export interface FileRecords {
  /** The row of a file that is about to come. */
  begin(file: NewFile): Promise<void>
  /**
   * All of it is there. `over-limit`: with it the owner would have more than so many bytes, and it stays `uploading`.
   * `gone`: it was collected before all of it had come, because that took too long or its owner was deleted.
   */
  finish(file: FileRecord, mostOwnerBytes: number): Promise<'ready' | 'over-limit' | 'gone'>
  /** One that is ready; null otherwise. */
  read(id: FileId): Promise<FileRecord | null>
  /**
   * Those of them that are ready and this owner's. They are not taken for unused before `at`, so that what is about to be
   * named is not collected before it is; the commit that names them ends it. It outlives the end of a thread.
   */
  reserve(ids: readonly FileId[], ownerId: OwnerId, at: number): Promise<readonly FileRecord[]>
  /** The bytes of all that an owner has. */
  ownerBytes(ownerId: OwnerId): Promise<number>
  /**
   * Makes `removing` of what no thread names and nobody has sent or reserved since `before`, and of what the end of its
   * thread left over. Returns these and those that were `removing` already.
   */
  claimUnused(query: UnusedQuery): Promise<readonly FileId[]>
  /** Files that a tool or a model made for a thread: it names them from now on. */
  name(threadId: ThreadId, ids: readonly FileId[]): Promise<void>
  /** Takes out the rows of files that are `removing`. */
  forget(ids: readonly FileId[]): Promise<void>
}

export interface UnusedQuery {
  /** In milliseconds since 1970. */
  readonly before: number
  readonly limit: number
  /** Only those of one owner. Default: anybody's. */
  readonly ownerId?: OwnerId
}

export interface NewFile {
  readonly id: FileId
  readonly ownerId: OwnerId
  readonly at: number
}
