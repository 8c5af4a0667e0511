import type { FileId } from '../../core/file.ts'
import type { FileStore } from '../../files/file-store.ts'
import { memoryFiles } from '../../files/memory-files.ts'

/** How long the processes keep a file that no message refers to, in virtual milliseconds. */
export const unusedMs = 2_000

/** The bytes of the files of all processes, with the ids of those that exist. */
export interface SimulatedFiles extends FileStore {
  readonly ids: ReadonlySet<FileId>
}

export function createSimulatedFiles(): SimulatedFiles {
  const files = memoryFiles()
  const ids = new Set<FileId>()
  return {
    ...files,
    ids,
    async write(id, content, about) {
      await files.write(id, content, about)
      ids.add(id)
    },
    async remove(id) {
      await files.remove(id)
      ids.delete(id)
    },
  }
}
