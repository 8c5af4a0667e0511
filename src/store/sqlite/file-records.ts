import type { FileId, FileRecord } from '../../core/file.ts'
import type { ThreadId } from '../../core/ids.ts'
import { type PausableWork, portionsOf, runToEnd } from '../../core/pausable-work.ts'
import type { FileRecords } from '../file-records.ts'
import { toFileRecord } from '../file-row.ts'
import type { AsyncConnection } from './connection.ts'
import type { LedgerStatements, ThreadKey } from './ledger-statements.ts'

/**
 * Records that the messages of a thread refer to files; those of another owner are left as they are. A message may have
 * thousands of addresses in it.
 */
export function* useFiles(
  { useFile, markFileUsed }: LedgerStatements,
  thread: ThreadKey,
  ids: readonly FileId[],
  queued: readonly FileId[] = [],
): PausableWork<void> {
  const isQueued = new Set(queued)
  for (const portion of portionsOf(ids)) {
    for (const id of portion) {
      useFile.run({ thread, id, queued: isQueued.has(id) ? 1 : 0 })
      markFileUsed.run({ thread, id })
    }
    yield
  }
}

/** Ends the uses by queued inputs; a file that a message of the thread refers to stays used. */
export function releaseQueuedFiles(
  { endQueuedUse, releaseFile }: LedgerStatements,
  thread: ThreadKey,
  ids: readonly FileId[],
  at: number,
): void {
  for (const id of ids) {
    if (Number(endQueuedUse.run({ thread, id }).changes) > 0) releaseFile.run({ id, at })
  }
}

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
      await write((statements) => {
        const thread = statements.readKey.get(threadId)?.thread
        if (thread !== undefined) runToEnd(useFiles(statements, thread, ids))
      })
    },
    forget: async (ids) => {
      await write(({ forgetFile }) => {
        for (const id of ids) forgetFile.run(id)
      })
    },
  }
}
