import * as fs from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { badOption, describeValue } from '../core/check-options.ts'
import { type FileId, isFileId } from '../core/file.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { type ByteRange, type FileStore, writeFrom } from './file-store.ts'

// Plain descriptors: a `FileHandle` that a reader pulls from and then drops ends the process when it is collected.
const open = promisify(fs.open)
const read = promisify(fs.read)
const writeAll = promisify(fs.writeFile)
const sync = promisify(fs.fsync)
const close = promisify(fs.close)

/**
 * Files in a folder of this machine, one for each, created with the first file. The processes of one machine may share
 * it; servers on several machines need a shared folder, or another file store.
 *
 * @example
 * createHoldfast({ store: sqlite('chat.db'), files: { store: folderFiles('/var/lib/chat/files') } })
 */
export function folderFiles(folder: string): FileStore {
  if (typeof folder !== 'string' || folder.trim() === '') {
    throw badOption(`folderFiles takes the name of a folder, not ${describeValue(folder)}.`)
  }
  const root = resolve(folder)
  /** Ids are made by the server and checked all the same: a path must not lead out of the folder. */
  const pathOf = (id: FileId): string => {
    if (!isFileId(id)) throw new HoldfastError('bad-id', 'This is not the id of a file.')
    return join(root, id.slice(5, 7), id)
  }
  return {
    kind: 'folder',

    async write(id, content) {
      const path = pathOf(id)
      const part = `${path}.part`
      await writeFrom(content, async (pieces) => {
        await onDisk(mkdir(dirname(path), { recursive: true }))
        const file = await onDisk(open(part, 'w', 0o600))
        try {
          for await (const piece of pieces) await onDisk(writeAll(file, piece))
          // Synced to disk before the database records that the file is complete.
          await onDisk(sync(file))
        } finally {
          await close(file)
        }
      })
      await onDisk(rename(part, path))
    },

    async read(id, range) {
      const path = pathOf(id)
      try {
        await stat(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
      return readPieces(path, range)
    },

    async remove(id) {
      const path = pathOf(id)
      await rm(path, { force: true })
      await rm(`${path}.part`, { force: true })
    },
  }
}

const full = ['store-full', 'The disk of the files is full.'] as const
const readOnly = ['store-read-only', 'The folder of the files cannot be written to.'] as const

/** By Node's codes for errors of files. */
const writeFaults = new Map<unknown, typeof full | typeof readOnly>([
  ...(['ENOSPC', 'EDQUOT'] as const).map((code) => [code, full] as const),
  ...(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'] as const).map(
    (code) => [code, readOnly] as const,
  ),
])

/** A step of a write, whose errors are those of the folder. The content's source may throw errors with the same codes. */
async function onDisk<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step
  } catch (error) {
    const fault = writeFaults.get((error as NodeJS.ErrnoException | null)?.code)
    if (fault === undefined) throw error
    const [code, message] = fault
    throw new HoldfastError(code, message, { cause: error, isTemporary: true })
  }
}

const pieceBytes = 65_536

/**
 * The file is open from the first piece that is read until the reader leaves, and is closed when `return` has resolved: a
 * read that nobody pulls must not use up a descriptor.
 */
async function* readPieces(
  path: string,
  { start, end }: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER },
): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    for (let at = start; at <= end;) {
      const piece = new Uint8Array(Math.min(pieceBytes, end - at + 1))
      const { bytesRead } = await read(file, piece, 0, piece.byteLength, at)
      if (bytesRead === 0) return
      at += bytesRead
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await close(file)
  }
}
