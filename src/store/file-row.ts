import type { FileId, FileRecord } from '../core/file.ts'
import type { OwnerId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'

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
