import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badOption, describeValue } from '../core/check-options.ts'
import { type FileId, isFileId } from '../core/file.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { FileStore } from './file-store.ts'

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
      await mkdir(dirname(path), { recursive: true })
      await pipeline(Readable.from(content), createWriteStream(part, { flags: 'w', mode: 0o600 }))
      // Synced to disk before the database records that the file is complete.
      const file = await open(part, 'r+')
      try {
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(part, path)
    },

    async read(id, range) {
      const path = pathOf(id)
      try {
        await stat(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
      return createReadStream(path, range)
    },

    async remove(id) {
      const path = pathOf(id)
      await rm(path, { force: true })
      await rm(`${path}.part`, { force: true })
    },
  }
}
