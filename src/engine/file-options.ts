import {
  checkOptions,
  having,
  longestTimerMs,
  milliseconds,
  type OptionTable,
  wholeNumber,
} from '../core/check-options.ts'
import type { FileStore } from '../files/file-store.ts'

/** What `createHoldfast` takes as `files`. */
export interface FileOptions extends Partial<FileLimits> {
  /**
   * Where the bytes are kept: `folderFiles(folder)`, `s3Files({…})`, or one of your own.
   * @default the store's own: a folder beside the file of `sqlite`, the database of `postgres`
   */
  readonly store?: FileStore
}

export interface FileLimits {
  /** Of one file; a larger one is refused (413). @default 26,214,400 */
  readonly maxBytes: number
  /** Which types are taken, such as `image/png` or `image/*`: by what the bytes say. @default images, sound, video, text, PDF, JSON, office documents and zip files */
  readonly accept: readonly string[]
  /** Files that one message may name. @default 20 */
  readonly maxPerMessage: number
  /** Of all files of one message together. @default 104,857,600 */
  readonly maxBytesPerMessage: number
  /** Of all files that one owner has (413). @default 1,073,741,824 */
  readonly maxBytesPerOwner: number
  /** Width times height of an image: a small file can be a picture that no browser has room for. @default 100,000,000 */
  readonly maxPixels: number
  /** How long a file is kept that no message names. @default 86,400,000 */
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

/** `createHoldfast`, `files`. */
export const fileRules: OptionTable<FileOptions> = {
  store: having(
    'a file store, such as folderFiles(folder)',
    ['write', 'read', 'remove'],
    'the store’s own',
  ),
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
