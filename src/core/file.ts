import type { OwnerId } from './ids.ts'

/** Of a file that a person, a tool or a model gave: made by the server, and unique everywhere. */
export type FileId = string

/** What is known of a file. Its bytes are in the file store, under its id. */
export interface FileRecord {
  readonly id: FileId
  readonly ownerId: OwnerId
  /** What the bytes say that it is, not what whoever sent it said. */
  readonly mediaType: string
  readonly bytes: number
  /** SHA-256 of the bytes, as hexadecimal digits. */
  readonly sha256: string
  /** As a person named it: text, never a path. */
  readonly filename?: string
  /** Of an image, in pixels. */
  readonly width?: number
  readonly height?: number
  readonly createdAt: number
}

const fileAddress = /^(?:\/[^?#]*)?\/api\/files\/(file_[0-9a-f]{32})$/

/** The address under which a file is named in messages; the routes may stand under a base path. */
export const toFileUrl = (id: FileId, basePath = ''): string => `${basePath}/api/files/${id}`

/** The file that an address in a message names; undefined for every address that is not one of ours. */
export const fileIdOf = (url: string): FileId | undefined => fileAddress.exec(url)?.[1]

/** The files that are named anywhere in a JSON text: in a message, or deep in the result of a tool. */
export const fileIdsIn = (json: string): readonly FileId[] =>
  [...json.matchAll(/\/api\/files\/(file_[0-9a-f]{32})(?=")/g)].map(([, id = '']) => id)

export const isFileId = (value: string): boolean => /^file_[0-9a-f]{32}$/.test(value)
