import type { FileId } from '../../core/file.ts'

/** A host name that does not exist: addresses with it are read from the file store, and never requested. */
const ownHost = 'files.holdfast.invalid'

/** The address of a stored file in a prompt, where its bytes are to be sent. */
export const toOwnAddress = (id: FileId): string => `https://${ownHost}/${id}`

export const ownFileOf = (url: URL): FileId | undefined =>
  url.hostname === ownHost ? url.pathname.slice(1) : undefined

/** Whether only this process can load the file, whatever addresses the model's provider supports. */
export const isOwnFile = (url: URL): boolean => ownFileOf(url) !== undefined
