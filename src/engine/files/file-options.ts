import {
  callback,
  checkOptions,
  having,
  longestTimerMs,
  milliseconds,
  type OptionTable,
  wholeNumber,
} from '../../core/check-options.ts'
import type { FileRecord } from '../../core/file.ts'
import type { FileStore } from '../../files/file-store.ts'

/** The `files` option of `createHoldfast`. */
export interface FileOptions extends Partial<FileLimits> {
  /**
   * Where the bytes are stored: `folderFiles(folder)`, `s3Files({…})`, or your own.
   * @default the store's own: a folder beside the file of `sqlite`, the database of `postgres`
   */
  readonly store?: FileStore
  /**
   * The provider's own id of a file, as `uploadFile` of the AI SDK gives it (`{openai: 'file-abc'}`): sent to a model of that
   * provider in place of the bytes or a link. Asked once in a run for each file of a person; undefined, an error, or half a
   * minute without an answer: the bytes or the link. What it has uploaded is the host's to remember and to delete, because
   * providers forget files in their own time.
   * @default none: bytes or links
   */
  readonly reference?: FileReference
}

/** See `reference` of `FileOptions`. */
export type FileReference = (
  file: FileRecord,
  context: FileReferenceContext,
) => ProviderReference | undefined | Promise<ProviderReference | undefined>

/** Ids of one file, by the providers that have it. */
export type ProviderReference = Readonly<Record<string, string>>

/** For which model a file is wanted. */
export interface FileReferenceContext {
  /** Of the model, as a reference names it: `openai`, `anthropic`. */
  readonly provider: string
  /** The bytes. */
  readonly read: () => Promise<Uint8Array>
  readonly abortSignal: AbortSignal
}

/** The limits on files. What exceeds one is refused before anything is stored. */
export interface FileLimits {
  /** The most bytes of one file; a larger one is refused (413). @default 26,214,400 */
  readonly maxBytes: number
  /**
   * The accepted types, such as `image/png` or `image/*`, detected from the bytes.
   * @default images, sound, video, text, PDF, JSON, office documents and zip files
   */
  readonly accept: readonly string[]
  /** The most files in one message. @default 20 */
  readonly maxPerMessage: number
  /**
   * The most bytes of all files of one message together. Also of all files of which a model is sent the bytes: the newest, as
   * far as they fit; the others are a text for it.
   * @default 104,857,600
   */
  readonly maxBytesPerMessage: number
  /** The most bytes of all files of one owner (413). @default 1,073,741,824 */
  readonly maxBytesPerOwner: number
  /**
   * The most pixels of an image, width times height: a small file can decode to an image that no browser has memory
   * for.
   * @default 100,000,000
   */
  readonly maxPixels: number
  /** How long a file is kept that no message refers to. @default 86,400,000 */
  readonly keepUnusedMs: number
}

const defaultAccept: readonly string[] = [
  'image/*',
  'audio/*',
  'video/*',
  'text/*',
  'application/pdf',
  'application/json',
  'application/x-ndjson',
  'application/yaml',
  'application/toml',
  'application/xml',
  'application/zip',
  'application/epub+zip',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.presentation',
]

const most = Number.MAX_SAFE_INTEGER

/** The rules of the `files` option of `createHoldfast`. */
export const fileRules: OptionTable<FileOptions> = {
  store: having(
    'a file store, such as folderFiles(folder)',
    ['write', 'read', 'remove'],
    'the store’s own',
  ),
  reference: callback('none'),
  maxBytes: wholeNumber(1, most, '26,214,400'),
  accept: {
    range: 'a list of media types such as "image/png" or "image/*"',
    fits: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every(
        (type) => typeof type === 'string' && /^[\w.+-]+\/[\w.+*-]+$|^\*\/\*$/.test(type),
      ),
    default: 'images, sound, video, text, PDF, JSON, office documents, zip files',
  },
  maxPerMessage: wholeNumber(1, 1_000, '20'),
  maxBytesPerMessage: wholeNumber(1, most, '104,857,600'),
  maxBytesPerOwner: wholeNumber(1, most, '1,073,741,824'),
  maxPixels: wholeNumber(1, most, '100,000,000'),
  keepUnusedMs: milliseconds(0, longestTimerMs * 100, '86,400,000'),
}

export function checkFileOptions(where: string, options: FileOptions | undefined): void {
  if (options !== undefined) checkOptions(`${where}, files`, options, fileRules)
}

export const toFileLimits = (options: FileOptions = {}): FileLimits => ({
  maxBytes: options.maxBytes ?? 26_214_400,
  accept: options.accept ?? defaultAccept,
  maxPerMessage: options.maxPerMessage ?? 20,
  maxBytesPerMessage: options.maxBytesPerMessage ?? 104_857_600,
  maxBytesPerOwner: options.maxBytesPerOwner ?? 1_073_741_824,
  maxPixels: options.maxPixels ?? 100_000_000,
  keepUnusedMs: options.keepUnusedMs ?? 86_400_000,
})
