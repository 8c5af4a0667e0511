import { fileIdOf } from '../../core/file.ts'
import { isSharedFile } from '../../core/share.ts'

/** Whether a text is the address of a file of this server. */
export const isStoredFile = (text: string): boolean =>
  fileIdOf(text) !== undefined || isSharedFile(text)
