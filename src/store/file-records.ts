import type { FileId, FileRecord } from '../core/file.ts'
import type { OwnerId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'

/**
 * The rows of files in a database (FL1, FL2). A file is `uploading` until all its bytes are in the file store, `ready` while
 * messages may refer to it, and `removing` from the moment on at which none may: its bytes are deleted, then its row. So a
 * crash leaves no bytes without a row, and the next collection continues where the last one ended.
 *
 * Which thread refers to which file is written by the commit that does (`PlannedCommit.files`) and deleted with the thread.
 */
export interface FileRecords {
  /** Inserts the row of a file whose upload begins. */
  begin(file: NewFile): Promise<void>
  /**
   * Marks a file as `ready` after all its bytes were written. `over-limit`: the owner would have more than
   * `mostOwnerBytes`, and it stays `uploading`. `gone`: it was collected during the upload, because that took
   * too long or its owner was deleted.
   */
  finish(file: FileRecord, mostOwnerBytes: number): Promise<'ready' | 'over-limit' | 'gone'>
  /** A file that is `ready`; null otherwise. */
  read(id: FileId): Promise<FileRecord | null>
  /**
   * Returns those of these files that are `ready` and belong to this owner, and records `at` as their last
   * use, so that `claimUnused` does not collect a file between the check of a message and the commit that
   * refers to it. The commit ends the reservation; deleting a thread does not.
   */
  reserve(ids: readonly FileId[], ownerId: OwnerId, at: number): Promise<readonly FileRecord[]>
  /** The total size of an owner's files. */
  ownerBytes(ownerId: OwnerId): Promise<number>
  /**
   * Marks as `removing` the files that no thread refers to and that were not uploaded or reserved since
   * `before`, and those of deleted threads. Returns them with those that were `removing` already.
   */
  claimUnused(query: UnusedQuery): Promise<readonly FileId[]>
  /** Deletes the rows of files that are `removing`. */
  forget(ids: readonly FileId[]): Promise<void>
}

/** Which unused files to claim. */
export interface UnusedQuery {
  /** In milliseconds since 1970. */
  readonly before: number
  readonly limit: number
  /** Only the files of one owner. Default: of all owners. */
  readonly ownerId?: OwnerId
}

/** A file whose upload begins. */
export interface NewFile {
  readonly id: FileId
  readonly ownerId: OwnerId
  readonly at: number
}

/** A row of `files` that is ready. */
export interface FileRow {
  readonly id: FileId
  readonly ownerId: OwnerId
  readonly mediaType: string
  readonly bytes: number
  readonly sha256: string
  readonly filename: string | null
  readonly width: number | null
  readonly height: number | null
  readonly createdAt: number
}

export const toFileRecord = ({ filename, width, height, ...row }: FileRow): FileRecord =>
  withDefined(row, {
    filename: filename ?? undefined,
    width: width ?? undefined,
    height: height ?? undefined,
  })
