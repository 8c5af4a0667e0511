import type { FileId } from '../core/file.ts'
import { cutToRange, type FileStore } from './file-store.ts'

/** Files in the memory of this process: for tests, and beside `memory()`. */
export function memoryFiles(): FileStore {
  const files = new Map<FileId, readonly Uint8Array[]>()
  return {
    kind: 'memory',
    async write(id, content) {
      const pieces: Uint8Array[] = []
      for await (const piece of content) pieces.push(Uint8Array.from(piece))
      files.set(id, pieces)
    },
    async read(id, range) {
      const pieces = files.get(id)
      if (pieces === undefined) return null
      const all = each(pieces)
      return range === undefined ? all : cutToRange(all, range)
    },
    async remove(id) {
      files.delete(id)
    },
  }
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
