import type { FileId, FileRecord } from '../../core/file.ts'
import type { OwnerId, ThreadId } from '../../core/ids.ts'
import type { FileRecords, NewFile } from '../file-records.ts'
import type { PlannedCommit } from '../plan-commit.ts'

interface MemoryFile extends NewFile {
  readonly state: 'uploading' | 'ready' | 'removing'
  readonly reservedAt: number
  readonly record: FileRecord | null
}

/** The rows, and what the store does with them when it deletes a thread. */
export interface MemoryFileRecords extends FileRecords {
  release(threadId: ThreadId): void
  /** Records the uses of a commit, and ends those of queued inputs that it withdrew. */
  commit(threadId: ThreadId, commit: PlannedCommit): void
}

export function createMemoryFileRecords(
  ownerOf: (id: ThreadId) => OwnerId | undefined,
): MemoryFileRecords {
  const files = new Map<FileId, MemoryFile>()
  /** With each use: whether only queued inputs refer to the file. */
  const uses = new Map<ThreadId, Map<FileId, boolean>>()
  const isUsed = (id: FileId) => [...uses.values()].some((ids) => ids.has(id))
  const change = (id: FileId, part: Partial<MemoryFile>) => {
    const file = files.get(id)
    if (file !== undefined) files.set(id, { ...file, ...part })
  }
  const readyOf = (id: FileId): FileRecord | null => {
    const file = files.get(id)
    return file?.state === 'ready' ? file.record : null
  }
  const bytesOf = (ownerId: string) =>
    [...files.values()]
      .filter((file) => file.ownerId === ownerId)
      .reduce((sum, { record }) => sum + (record?.bytes ?? 0), 0)
  const use = (threadId: ThreadId, ids: readonly FileId[], queued: readonly FileId[]) => {
    const ownerId = ownerOf(threadId)
    if (ownerId === undefined) return
    const named = uses.get(threadId) ?? new Map<FileId, boolean>()
    uses.set(threadId, named)
    for (const id of ids) {
      // Only threads of its owner use a file (FL2).
      if (readyOf(id)?.ownerId !== ownerId) continue
      named.set(id, queued.includes(id) && named.get(id) !== false)
      change(id, { reservedAt: 0 })
    }
  }
  return {
    async begin(file) {
      files.set(file.id, { ...file, state: 'uploading', reservedAt: file.at, record: null })
    },
    async finish(record, mostOwnerBytes) {
      if (files.get(record.id)?.state !== 'uploading') return 'gone'
      if (bytesOf(record.ownerId) + record.bytes > mostOwnerBytes) return 'over-limit'
      change(record.id, { state: 'ready', record })
      return 'ready'
    },
    read: async (id) => readyOf(id),
    async reserve(ids, ownerId, at) {
      const found = ids
        .flatMap((id) => readyOf(id) ?? [])
        .filter((file) => file.ownerId === ownerId)
      for (const { id } of found) {
        change(id, { reservedAt: Math.max(at, files.get(id)?.reservedAt ?? 0) })
      }
      return found
    },
    ownerBytes: async (ownerId) => bytesOf(ownerId),
    async claimUnused({ before, limit, ownerId }) {
      const unused = [...files.values()]
        .filter(({ id, reservedAt }) => reservedAt < before && !isUsed(id))
        .filter((file) => ownerId === undefined || file.ownerId === ownerId)
        .slice(0, limit)
        .map(({ id }) => id)
      for (const id of unused) change(id, { state: 'removing' })
      return unused
    },
    commit(threadId, { append, files: named, queuedFiles, releasedFiles }) {
      use(threadId, named, queuedFiles)
      const own = uses.get(threadId)
      for (const id of releasedFiles) {
        if (own?.get(id) !== true) continue
        own.delete(id)
        const at = Math.max(append.events.at(-1)?.at ?? 0, files.get(id)?.reservedAt ?? 0)
        if (!isUsed(id)) change(id, { reservedAt: at })
      }
    },
    async forget(ids) {
      for (const id of ids) if (files.get(id)?.state === 'removing') files.delete(id)
    },
    release(threadId) {
      uses.delete(threadId)
    },
  }
}
