import type { FileId, FileRecord } from '../../core/file.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { FileRecords, NewFile } from '../file-records.ts'

interface MemoryFile extends NewFile {
  readonly state: 'uploading' | 'ready' | 'removing'
  readonly reservedAt: number
  readonly record: FileRecord | null
}

/** The rows, and what the store does to them with its threads. */
export interface MemoryFileRecords extends FileRecords {
  release(threadId: ThreadId): void
}

export function createMemoryFileRecords(hasThread: (id: ThreadId) => boolean): MemoryFileRecords {
  const files = new Map<FileId, MemoryFile>()
  const uses = new Map<ThreadId, Set<FileId>>()
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
    async name(threadId, ids) {
      if (!hasThread(threadId)) return
      const named = uses.get(threadId) ?? new Set()
      uses.set(threadId, named)
      for (const id of ids) {
        named.add(id)
        change(id, { reservedAt: 0 })
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
