import type { OwnerId } from './ids.ts'

/** The id of a file that a person, a tool or a model supplied: made by the server, and globally unique. */
export type FileId = string

/** The stored description of a file. Its bytes are in the file store, under its id. */
export interface FileRecord {
  readonly id: FileId
  readonly ownerId: OwnerId
  /** The type that the bytes show, not the one that the sender declared. */
  readonly mediaType: string
  readonly bytes: number
  /** SHA-256 of the bytes, as hexadecimal digits. */
  readonly sha256: string
  /** The name from the upload: text, never a path. */
  readonly filename?: string
  /** Of an image, in pixels. */
  readonly width?: number
  readonly height?: number
  readonly createdAt: number
}

const fileAddress = /^(?:\/[^?#]*)?\/api\/files\/(file_[0-9a-f]{32})$/

/** The URL under which messages refer to a file; the routes may be mounted under a base path. */
export const toFileUrl = (id: FileId, basePath = ''): string => `${basePath}/api/files/${id}`

/** The file that a URL in a message refers to; undefined for every URL that is not one of Holdfast's. */
export const fileIdOf = (url: string): FileId | undefined => fileAddress.exec(url)?.[1]

export const isFileId = (value: string): boolean => /^file_[0-9a-f]{32}$/.test(value)
