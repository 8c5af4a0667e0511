import type { FileRecord } from '../../core/file.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { FileRecords } from '../file-records.ts'
import { toFileRecord } from '../file-row.ts'
import type { AsyncConnection } from './connection.ts'

export function createSqliteFileRecords({
  read,
  write,
}: Pick<AsyncConnection, 'read' | 'write'>): FileRecords {
  return {
    begin: async (file) => {
      await write(({ beginFile }) => beginFile.run({ ...file }))
    },
    finish: (file, mostOwnerBytes) =>
      write(({ finishFile, ownerFileBytes }) => {
        const { id, ownerId, mediaType, bytes, sha256 } = file
        const { filename = null, width = null, height = null } = file
        const has = ownerFileBytes.get(ownerId)?.bytes ?? 0
        if (has + bytes > mostOwnerBytes) return 'over-limit'
        const row = { id, mediaType, bytes, sha256, filename, width, height }
        return Number(finishFile.run(row).changes) > 0 ? 'ready' : 'gone'
      }),
    read: (id) =>
      read(({ readFile }) => {
        const row = readFile.get(id)
        return row === undefined ? null : toFileRecord(row)
      }),
    reserve: (ids, ownerId, at) =>
      write(({ reserveFile, readFile }) =>
        ids.flatMap((id): readonly FileRecord[] => {
          const isOwn = Number(reserveFile.run({ id, ownerId, at }).changes) > 0
          const row = isOwn ? readFile.get(id) : undefined
          return row === undefined ? [] : [toFileRecord(row)]
        }),
      ),
    ownerBytes: (ownerId) => read(({ ownerFileBytes }) => ownerFileBytes.get(ownerId)?.bytes ?? 0),
    claimUnused: ({ before, limit, ownerId = null }) =>
      write(({ claimUnusedFiles }) =>
        claimUnusedFiles.all({ before, limit, ownerId }).map(({ id }) => id),
      ),
    name: async (threadId: ThreadId, ids) => {
      await write(({ readKey, useFile, markFileUsed }) => {
        const thread = readKey.get(threadId)?.thread
        if (thread === undefined) return
        for (const id of ids) {
          useFile.run(thread, id)
          markFileUsed.run(id)
        }
      })
    },
    forget: async (ids) => {
      await write(({ forgetFile }) => {
        for (const id of ids) forgetFile.run(id)
      })
    },
  }
}
