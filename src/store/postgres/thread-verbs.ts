import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import type {
  CreateThreadResult,
  DeletedThread,
  FoundInput,
  MetadataChange,
  NewThread,
  StoredSeq,
  ThreadFilter,
  ThreadList,
  ThreadListQuery,
} from '../store.ts'
import { longestTitle } from '../../core/thread.ts'
import type { ThreadPrecondition } from '../lease.ts'
import {
  firstTitleNote,
  type ListedThreadRow,
  type StoredThreadRow,
  toThreadList,
  toMetadataText,
  toThreadRecord,
} from '../thread-row.ts'
import type { Database } from './database.ts'
import { releaseFilesStatement } from './file-records.ts'
import { deleteSharesStatement } from './share-records.ts'
import {
  ofKnown,
  type RunStatement,
  type Statement,
  toPlainText,
  toStatement,
} from './statement.ts'

export async function tryCreateThread(
  run: RunStatement,
  statements: ThreadStatements,
  wanted: NewThread,
): Promise<CreateThreadResult> {
  const { id, ownerId, metadata = {}, at } = wanted
  const title = toPlainText(wanted.title)
  const note = firstTitleNote({ ...wanted, title })
  const values = [id, ownerId, title, at, toMetadataText(metadata), note]
  for (;;) {
    const [row] = await run<StoredThreadRow & { readonly isNew: boolean }>(
      statements.createThread,
      values,
    )
    // Another transaction created it after this statement began: the next attempt sees it.
    if (row === undefined) continue
    const { isNew, ...found } = row
    const thread = toThreadRecord(found)
    if (isNew) return { kind: 'created', thread }
    return thread.ownerId === ownerId ? { kind: 'exists', thread } : { kind: 'taken' }
  }
}

/** The verbs on threads themselves: creating, listing, deleting. */
export function createThreadVerbs(
  { run, transaction }: Pick<Database, 'run' | 'transaction'>,
  statements: ThreadStatements,
) {
  return {
    createThread: (wanted: NewThread): Promise<CreateThreadResult> =>
      tryCreateThread(run, statements, wanted),

    async readThread(id: ThreadId): Promise<ThreadRecord | null> {
      const [thread] = await run<StoredThreadRow>(statements.readThread, [id])
      return thread === undefined ? null : toThreadRecord(thread)
    },

    async readSeqs(ids: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, StoredSeq>> {
      const rows = await run<StoredSeq & Pick<ThreadRecord, 'id'>>(statements.readSeqs, [ids])
      return new Map(rows.map(({ id, ...stored }) => [id, stored]))
    },

    async listThreads({ ownerId, limit, before, filter }: ThreadListQuery): Promise<ThreadList> {
      const values = [ownerId, before ?? Number.MAX_SAFE_INTEGER, limit + 1]
      const list = filter === undefined ? statements.listThreads : listOf(statements, filter)
      const found = await run<ListedThreadRow>(list, values)
      return toThreadList(found, limit)
    },

    /**
     * The thread's row is deleted first: this waits for a commit that holds it, and the statements that
     * follow see the rows of that commit. A single statement would not see them and leave them behind.
     */
    deleteThread: (
      id: ThreadId,
      { expectedSeq, incarnation }: ThreadPrecondition = {},
    ): Promise<(DeletedThread & { incarnation: string }) | null> =>
      transaction(async (runInside) => {
        const values = [id, expectedSeq ?? null, incarnation ?? null]
        const [gone] = await runInside<{ incarnation: string }>(statements.deleteThread, values)
        if (gone === undefined) return null
        const [deleted] = await runInside<DeletedThread>(statements.deleteMessages, [id])
        for (const statement of statements.deleteRows) await runInside(statement, [id])
        return { messages: deleted?.messages ?? 0, incarnation: gone.incarnation }
      }),

    async setThreadMetadata({ threadId, incarnation, from, to }: MetadataChange) {
      const values = [threadId, toMetadataText(from), toMetadataText(to), incarnation ?? null]
      const [row] = await run<{ readonly isSet: boolean }>(statements.setMetadata, values)
      if (row === undefined) return 'no-thread' as const
      return row.isSet ? ('set' as const) : ('stale' as const)
    },

    async findInput(id: ThreadId, messageId: MessageId): Promise<FoundInput | null> {
      const [found] = await run<FoundInput>(statements.findInput, [id, messageId])
      return found ?? null
    },
  }
}

function listOf({ listKept }: ThreadStatements, { archived, pinned }: ThreadFilter): Statement {
  if (pinned === true) return archived ? listKept.pinnedArchived : listKept.pinned
  return archived ? listKept.archived : listKept.listed
}

/** The columns of `ListedThreadRow`. */
export const listedColumns = (title: string): string =>
  `id, owner_id AS "ownerId", ${title} AS title, metadata,
    created_at AS "createdAt", updated_at AS "updatedAt", seq, activity, forked_from AS "forkedFrom",
    title_note AS "titleNote", pinned, archived`

export type ThreadStatements = ReturnType<typeof createThreadStatements>

export function createThreadStatements(schema: string) {
  // A title as far as it is shown: a host may have stored a longer one.
  const columns = listedColumns(`left(title, ${longestTitle})`)
  /** One statement per list: a partial index is used only if its condition is a constant and not a parameter. */
  const list = (name: string, condition: string) =>
    toStatement(
      name,
      `SELECT ${columns} FROM ${schema}.threads WHERE owner_id = $1 AND activity < $2 ${condition}
       ORDER BY activity DESC LIMIT $3`,
    )
  return {
    createThread: toStatement(
      'create-thread',
      `WITH created AS (
         INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at, metadata, title_note)
         VALUES ($1, $2, $3, $4::bigint, $4, $5, $6)
         ON CONFLICT (id) DO NOTHING RETURNING *
       )
       SELECT ${columns}, queue, incarnation, true AS "isNew" FROM created
       UNION ALL SELECT ${columns}, queue, incarnation, false FROM ${schema}.threads WHERE id = $1`,
    ),
    readThread: toStatement(
      'read-thread',
      `SELECT ${columns}, queue, incarnation FROM ${schema}.threads WHERE id = $1`,
    ),
    readSeqs: toStatement(
      'read-seqs',
      `SELECT id, seq, incarnation FROM ${schema}.threads WHERE id = ANY($1::text[])`,
    ),
    listThreads: list('list-threads', ''),
    listKept: {
      listed: list('list-listed', 'AND NOT archived'),
      archived: list('list-archived', 'AND archived'),
      pinned: list('list-pinned', 'AND pinned AND NOT archived'),
      pinnedArchived: list('list-pinned-archived', 'AND pinned AND archived'),
    },
    deleteThread: toStatement(
      'delete-thread',
      `DELETE FROM ${schema}.threads WHERE id = $1 AND ($2::bigint IS NULL OR seq = $2)
         AND ${ofKnown('incarnation', '$3')} RETURNING incarnation`,
    ),
    // Waits for a locked row, and then compares its current metadata, not those at the start of the
    // statement.
    setMetadata: toStatement(
      'set-metadata',
      `WITH changed AS (
         UPDATE ${schema}.threads SET metadata = $3 WHERE id = $1 AND metadata = $2
           AND ${ofKnown('incarnation', '$4')} RETURNING id
       )
       SELECT EXISTS (SELECT FROM changed) AS "isSet" FROM ${schema}.threads WHERE id = $1`,
    ),
    deleteMessages: toStatement(
      'delete-messages',
      `WITH gone AS (DELETE FROM ${schema}.messages WHERE thread_id = $1 RETURNING 1)
       SELECT count(*)::integer AS messages FROM gone`,
    ),
    deleteRows: [
      ...['events', 'calls', 'inputs', 'search_threads', 'search_texts', 'repairs'].map((table) =>
        toStatement(`delete-${table}`, `DELETE FROM ${schema}.${table} WHERE thread_id = $1`),
      ),
      releaseFilesStatement(schema),
      deleteSharesStatement(schema),
    ],
    findInput: toStatement(
      'find-input',
      `SELECT turn_id AS "turnId" FROM ${schema}.inputs WHERE thread_id = $1 AND message_id = $2`,
    ),
  }
}
