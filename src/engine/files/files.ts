import { createHash, randomUUID } from 'node:crypto'
import { createFairGate } from '../../core/fair-gate.ts'
import { type FileId, fileIdOf, type FileRecord, isFileId, toFileUrl } from '../../core/file.ts'
import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId } from '../../core/ids.ts'
import type { Part, UserPart } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { ByteRange, FileStore } from '../../files/file-store.ts'
import { toFilename } from '../../files/file-name.ts'
import { readImageSize } from '../../files/image-size.ts'
import { isAccepted, isShownInline, refineType, sniffType } from '../../files/sniff-type.ts'
import type { FileRecords } from '../../store/file-records.ts'
import type { Store } from '../../store/store.ts'
import { checkNames } from '../options/check-names.ts'
import type { Clock } from '../clock.ts'
import { type FileContent, sizeOf, toPieces } from './file-content.ts'
import type { FileLimits, FileReference } from './file-options.ts'
import type { Offer } from '../agent/offered-models.ts'

/** The arguments of `files.add`. */
export interface FileToAdd {
  /** The owner: nobody else can read it. */
  readonly ownerId: string
  /** The bytes: all at once, or as a stream. */
  readonly content: FileContent
  /**
   * The declared type; used only among kinds of plain text, otherwise the bytes decide.
   * @default 'application/octet-stream'
   */
  readonly mediaType?: string
  /** The name of the file for people. @default none */
  readonly filename?: string
  /**
   * The number of bytes, where it is known in advance: a file that is too large is then refused before it is read.
   * @default not known
   */
  readonly bytes?: number
}

/** A file that was stored. */
export interface AddedFile extends FileRecord {
  /** For the `url` of a message's file part. The handler's base path, if any, has to be put before it. */
  readonly url: string
}

/** Files that messages refer to (FL1, FL2). Ids are plain strings. */
export interface Files {
  /**
   * Stores a file and returns its record. Refused with a `HoldfastError`, and nothing is stored: `file-too-large`,
   * `file-type`, `files-full`. The bytes of an incomplete upload are discarded.
   */
  add(file: FileToAdd): Promise<AddedFile>
  /** Null if there is none, or it belongs to another owner. */
  get(id: string, scope?: { readonly ownerId?: string }): Promise<FileRecord | null>
  /**
   * The bytes, or a range of them; null if there are none. `user`: for whom they are, by which a file store that is busy
   * lets people take turns.
   */
  read(
    id: string,
    range?: ByteRange,
    about?: { readonly user?: string },
  ): Promise<AsyncIterable<Uint8Array> | null>
  /**
   * Removes files that no message refers to any more, and those that none has referred to for `keepUnusedMs`, now. The
   * engine also does this at intervals.
   */
  collect(): Promise<number>
}

/** The files with what only the engine uses. */
export interface EngineFiles extends Files {
  /**
   * Refuses a message that refers to files of another owner, or to too many; its files are protected from the
   * collector.
   */
  admit(ownerId: OwnerId, parts: readonly (UserPart | Part)[]): Promise<void>
  /** Removes all files of an owner that no thread refers to. */
  removeOwner(ownerId: OwnerId): Promise<void>
  /** The bytes for a prompt. */
  readForTurn(id: FileId, user: string): Promise<AsyncIterable<Uint8Array> | null>
  /**
   * Stores a file that a tool or a model generated, and protects it from the collector until the commit that refers to it.
   * It is no use of the file: one that was given up meanwhile is collected. Null where there is no file store, or the file
   * is gone again.
   */
  keep(ownerId: OwnerId, content: Uint8Array, mediaType: string): Promise<FileRecord | null>
  /** The media types that the model of a turn accepts. @default all */
  readonly acceptsOf?: Offer['acceptsOf']
  /** The provider's own id of a file, where the host gives one. @default none */
  readonly reference?: FileReference
  /** Also the most bytes of the files of one prompt (OP7): those of a new message always fit. */
  readonly maxBytesPerMessage: number
  /** An address that anybody can fetch for a limited time, where the file store supports it. */
  link(id: FileId): Promise<string | undefined>
}

/** The number of bytes that are read to detect the type of a file. */
const headBytes = 131_072
/** The same for an image, whose size may come after previews and profiles. */
const imageHeadBytes = 2_097_152
/**
 * How many uploads at once may hold that much, and of each owner one: a hundred of one person that stop in the middle of
 * it would take 400 MB. The others are not read on (OP7).
 */
const imageHeadsAtOnce = 16
/**
 * How long one of them may take to send it. Otherwise a client that stops sending would keep out all other such uploads of
 * its owner, and sixteen of them everybody's. In this time a megabyte arrives at 35 kB/s.
 */
const imageHeadMs = 30_000
const linkSeconds = 3_600
const collectedAtOnce = 100
/**
 * A message, or a result, is stored or refused within this time: until then its files are kept, whatever `keepUnusedMs` is.
 */
const commitMs = 120_000

export function createFiles(
  store: Store,
  fileStore: FileStore | undefined,
  limits: FileLimits,
  clock: Clock,
): EngineFiles {
  const used = (): { readonly records: FileRecords; readonly bytes: FileStore } => {
    if (store.files === undefined || fileStore === undefined) {
      throw new HoldfastError('no-files', 'This server does not store files.')
    }
    return { records: store.files, bytes: fileStore }
  }

  const remove = async (ids: readonly FileId[]): Promise<void> => {
    const { records, bytes } = used()
    for (const id of ids) await bytes.remove(id)
    await records.forget(ids)
  }

  const collect = async (query: { readonly before: number; readonly ownerId?: OwnerId }) => {
    const { records } = used()
    let removed = 0
    for (;;) {
      const ids = await records.claimUnused({ ...query, limit: collectedAtOnce })
      await remove(ids)
      removed += ids.length
      if (ids.length < collectedAtOnce) return removed
    }
  }

  const enterImageHeads = createFairGate(imageHeadsAtOnce)
  const holdImageHead = async (ownerId: OwnerId, read: () => Promise<void>): Promise<void> => {
    const leave = await enterImageHeads(ownerId)
    const over = Promise.withResolvers<never>()
    const cancel = clock.after(imageHeadMs, () => over.reject(tooSlow()))
    try {
      await Promise.race([read(), over.promise])
    } finally {
      cancel()
      leave()
    }
  }

  const keepFile = async (
    ownerId: OwnerId,
    file: Omit<FileToAdd, 'ownerId'>,
    isForTurn: boolean,
  ): Promise<FileRecord> => {
    const source = toPieces(file.content)[Symbol.asyncIterator]()
    try {
      return await keepPieces(ownerId, file, source, isForTurn)
    } finally {
      // Whatever reads it may fail before its first piece, and a generator around it that has not begun would not close it.
      // Not awaited: a source that hangs must not delay the refusal.
      source.return?.().catch(() => undefined)
    }
  }

  const keepPieces = async (
    ownerId: OwnerId,
    { mediaType: declared = '', filename }: Omit<FileToAdd, 'ownerId'>,
    source: AsyncIterator<Uint8Array>,
    isForTurn: boolean,
  ): Promise<FileRecord> => {
    const { records, bytes } = used()
    const id: FileId = `file_${randomUUID().replaceAll('-', '')}`
    const at = clock.now()
    const { head, all } = await readHead(source, limits.maxBytes, (read) =>
      holdImageHead(ownerId, read),
    )
    const sent = declared.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const mediaType = refineType(sniffType(head, sent), sent)
    checkType(mediaType, sent, limits.accept)
    const size = readImageSize(head, mediaType)
    // An image that a page renders must have a readable size: one of unknown size may need more memory than there is.
    if (size === undefined && isShownInline(mediaType)) {
      throw new HoldfastError('file-type', `The size of this ${mediaType} cannot be read.`)
    }
    if (size !== undefined && size.width * size.height > limits.maxPixels) {
      throw new HoldfastError(
        'file-too-large',
        `The image has ${size.width} × ${size.height} pixels. At most ${limits.maxPixels.toLocaleString('en-US')} are accepted.`,
      )
    }
    await records.begin({ id, ownerId, at })
    const meter = createMeter(limits.maxBytes)
    try {
      await bytes.write(id, meter.through(all), { mediaType, user: ownerId, isForTurn })
      const file = withDefined(
        { id, ownerId, mediaType, bytes: meter.bytes(), sha256: meter.sha256(), createdAt: at },
        {
          filename: filename === undefined ? undefined : toFilename(filename),
          width: size?.width,
          height: size?.height,
        },
      )
      const finished = await records.finish(file, limits.maxBytesPerOwner)
      if (finished === 'ready') return file
      throw finished === 'gone'
        ? new HoldfastError('file-not-found', 'The upload was aborted before it was complete.')
        : new HoldfastError(
            'files-full',
            `With this file you would exceed your limit of ${limits.maxBytesPerOwner} bytes of files.`,
          )
    } catch (error) {
      // Should this fail too, the collector removes what is left.
      await bytes.remove(id).catch(() => undefined)
      throw error
    }
  }

  return {
    async add(given) {
      checkNames('files.add', given, ['ownerId', 'content', 'mediaType', 'filename', 'bytes'])
      const ownerId = parseOwnerId(given.ownerId)
      const known = given.bytes ?? sizeOf(given.content) ?? 0
      if (known > limits.maxBytes) throw tooLarge(limits.maxBytes)
      const file = await keepFile(ownerId, given, false)
      return { ...file, url: toFileUrl(file.id) }
    },
    async get(id, scope = {}) {
      checkNames('The scope of a file', scope, ['ownerId'])
      if (!isFileId(id)) return null
      const file = await used().records.read(id)
      const isTheirs = scope.ownerId === undefined || file?.ownerId === scope.ownerId
      return isTheirs ? file : null
    },
    read: async (id, range, about) => (isFileId(id) ? used().bytes.read(id, range, about) : null),
    readForTurn: async (id, user) => used().bytes.read(id, undefined, { user, isForTurn: true }),
    collect: () => collect({ before: clock.now() - limits.keepUnusedMs }),
    async admit(ownerId, parts) {
      const ids = [...new Set(parts.flatMap((part) => namedIn(part) ?? []))]
      if (ids.length === 0) return
      if (ids.length > limits.maxPerMessage) {
        throw new HoldfastError(
          'bad-request',
          `A message has at most ${limits.maxPerMessage} files.`,
        )
      }
      const found = await used().records.reserve(ids, ownerId, clock.now() + commitMs)
      if (found.length < ids.length) {
        throw new HoldfastError('file-not-found', 'A file of the message does not exist.')
      }
      const bytes = found.reduce((sum, file) => sum + file.bytes, 0)
      if (bytes > limits.maxBytesPerMessage) throw tooLarge(limits.maxBytesPerMessage)
    },
    async removeOwner(ownerId) {
      if (store.files === undefined || fileStore === undefined) return
      await collect({ before: Number.MAX_SAFE_INTEGER, ownerId })
    },
    async keep(ownerId, content, mediaType) {
      if (store.files === undefined || fileStore === undefined) return null
      const { id } = await keepFile(ownerId, { content, mediaType }, true)
      const [file = null] = await store.files.reserve([id], ownerId, clock.now() + commitMs)
      return file
    },
    maxBytesPerMessage: limits.maxBytesPerMessage,
    link: async (id) => fileStore?.link?.(id, linkSeconds),
  }
}

const namedIn = (part: UserPart | Part): FileId | undefined =>
  part.type === 'file' || part.type === 'reasoning-file' ? fileIdOf(part.url) : undefined

const tooLarge = (most: number): HoldfastError =>
  new HoldfastError('file-too-large', `It is larger than ${toSize(most)}.`)

const tooSlow = (): HoldfastError =>
  badRequestFault(`The size of this image has not arrived within ${imageHeadMs / 1_000} seconds.`)

const mebibyte = 1024 * 1024

/** As people read it in the composer. */
const toSize = (bytes: number): string =>
  bytes < mebibyte
    ? `${bytes.toLocaleString('en-US')} bytes`
    : `${(bytes / mebibyte).toLocaleString('en-US', { maximumFractionDigits: 1 })} MiB`

function checkType(mediaType: string, declared: string, accept: readonly string[]): void {
  if (declared.startsWith('image/') && !mediaType.startsWith('image/')) {
    throw new HoldfastError('file-type', `It is declared as ${declared}, but is ${mediaType}.`)
  }
  if (isAccepted(mediaType, accept)) return
  throw new HoldfastError(
    'file-type',
    `Files of the type ${mediaType} are not accepted; these are: ${accept.join(', ')}.`,
  )
}

/** The first bytes, and a stream of all bytes. */
async function readHead(
  source: AsyncIterator<Uint8Array>,
  maxBytes: number,
  holdImageHead: (read: () => Promise<void>) => Promise<void>,
): Promise<{ readonly head: Uint8Array; readonly all: AsyncIterable<Uint8Array> }> {
  const pieces: Uint8Array[] = []
  let size = 0
  let lookAt = headBytes
  const isEnough = () => {
    if (size < lookAt) return false
    if (size >= imageHeadBytes) return true
    // Each check costs as much as there are bytes, so a client that sends byte by byte must not trigger one for each.
    lookAt = size * 2
    const head = Buffer.concat(pieces)
    const mediaType = sniffType(head, '')
    return !isShownInline(mediaType) || readImageSize(head, mediaType) !== undefined
  }
  const readUntil = async (isRead: () => boolean) => {
    while (!isRead()) {
      const next = await source.next()
      if (next.done === true) return
      pieces.push(next.value)
      size += next.value.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
    }
  }
  await readUntil(() => size >= headBytes)
  if (size >= headBytes && !isEnough()) {
    try {
      await holdImageHead(() => readUntil(isEnough))
    } catch (error) {
      // A read that is never answered would hold what has been read.
      pieces.length = 0
      throw error
    }
  }
  const head = Buffer.concat(pieces)
  async function* readAll(): AsyncGenerator<Uint8Array> {
    // What has been written is held no longer.
    pieces.reverse()
    for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) yield piece
    yield* { [Symbol.asyncIterator]: () => source }
  }
  return { head, all: readAll() }
}

/** Counts and hashes the bytes that pass; fails at more than `maxBytes`. */
function createMeter(maxBytes: number) {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    bytes: () => bytes,
    sha256: () => hash.digest('hex'),
    async *through(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of content) {
        bytes += piece.byteLength
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        hash.update(piece)
        yield piece
      }
    },
  }
}
