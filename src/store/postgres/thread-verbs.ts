import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import { createPacer, runPaced } from '../pacer.ts'
import {
  judgeRewrite,
  planRewriteInSteps,
  type RewriteResult,
  type RewrittenHead,
  type ThreadRewrite,
  toRewriteFault,
} from '../plan-rewrite.ts'
import type {
  AbandonedRun,
  CreateThreadResult,
  DeletedThread,
  FoundInput,
  MetadataChange,
  NewThread,
  StopRequest,
  StoredSeq,
  ThreadFilter,
  ThreadList,
  ThreadListQuery,
} from '../store.ts'
import { longestTitle } from '../../core/thread.ts'
import {
  firstTitleNote,
  type ListedThreadRow,
  type StoredThreadRow,
  toListedThread,
  toMetadataText,
  toThreadRecord,
} from '../thread-row.ts'
import type { Database } from './database.ts'
import { releaseFilesStatement } from './file-records.ts'
import { leaseHeld } from './ledger-columns.ts'
import { deleteSharesStatement } from './share-records.ts'
import { type RunStatement, type Statement, toPlainText } from './statement.ts'
import { createCommitWriter } from './write-commits.ts'

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

/** The verbs on threads themselves: creating, listing, deleting, leases. */
export function createThreadVerbs(
  { run, runBare, transaction }: Pick<Database, 'run' | 'runBare' | 'transaction'>,
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
      const rows = await runBare<StoredSeq & Pick<ThreadRecord, 'id'>>(statements.readSeqs, [ids])
      return new Map(rows.map(({ id, ...stored }) => [id, stored]))
    },

    async listThreads({ ownerId, limit, before, filter }: ThreadListQuery): Promise<ThreadList> {
      const values = [ownerId, before ?? Number.MAX_SAFE_INTEGER, limit + 1]
      const list = filter === undefined ? statements.listThreads : listOf(statements, filter)
      const found = await run<ListedThreadRow>(list, values)
      return { threads: found.slice(0, limit).map(toListedThread), hasMore: found.length > limit }
    },

    /**
     * The thread's row is deleted first: this waits for a commit that holds it, and the statements that
     * follow see the rows of that commit. A single statement would not see them and leave them behind.
     */
    deleteThread: (id: ThreadId): Promise<(DeletedThread & { incarnation: string }) | null> =>
      transaction(async (runInside) => {
        const [gone] = await runInside<{ incarnation: string }>(statements.deleteThread, [id])
        if (gone === undefined) return null
        const [deleted] = await runInside<DeletedThread>(statements.deleteMessages, [id])
        for (const statement of statements.deleteRows) await runInside(statement, [id])
        return { messages: deleted?.messages ?? 0, incarnation: gone.incarnation }
      }),

    async setThreadMetadata({ threadId, from, to }: MetadataChange) {
      const values = [threadId, toMetadataText(from), toMetadataText(to)]
      const [row] = await run<{ readonly isSet: boolean }>(statements.setMetadata, values)
      if (row === undefined) return 'no-thread' as const
      return row.isSet ? ('set' as const) : ('stale' as const)
    },

    async requestStop(
      id: ThreadId,
      only?: MessageId,
    ): Promise<StopRequest & { readonly seq?: Seq }> {
      const [row] = await run<StopRow>(statements.requestStop, [id, only ?? null])
      if (row === undefined) return { kind: 'no-thread' }
      const { turnId, fence, seq } = row
      return turnId === null ? { kind: 'idle' } : { kind: 'requested', turnId, fence, seq }
    },

    async findInput(id: ThreadId, messageId: MessageId): Promise<FoundInput | null> {
      const [found] = await run<FoundInput>(statements.findInput, [id, messageId])
      return found ?? null
    },

    findAbandonedRuns: (limit: number, only?: ThreadId): Promise<readonly AbandonedRun[]> =>
      only === undefined
        ? // Runs every second in each server, on an index that contains only threads with runs.
          runBare<AbandonedRun>(statements.findAbandonedRuns, [limit])
        : run<AbandonedRun>(statements.findAbandonedRun, [only]),
  }
}

function listOf({ listKept }: ThreadStatements, { archived, pinned }: ThreadFilter): Statement {
  if (pinned === true) return archived ? listKept.pinnedArchived : listKept.pinned
  return archived ? listKept.archived : listKept.listed
}

interface StopRow {
  readonly turnId: MessageId | null
  readonly fence: number
  readonly seq: Seq
}

export type ThreadStatements = ReturnType<typeof createThreadStatements>

export function createThreadStatements(schema: string) {
  const columns = `id, owner_id AS "ownerId", left(title, ${longestTitle}) AS title, metadata,
    created_at AS "createdAt", updated_at AS "updatedAt", seq, activity, forked_from AS "forkedFrom",
    title_note AS "titleNote", pinned, archived`
  /** One statement per list: a partial index is used only if its condition is a constant and not a parameter. */
  const list = (name: string, condition: string) =>
    statement(
      name,
      `SELECT ${columns} FROM ${schema}.threads WHERE owner_id = $1 AND activity < $2 ${condition}
       ORDER BY activity DESC LIMIT $3`,
    )
  return {
    createThread: statement(
      'create-thread',
      `WITH created AS (
         INSERT INTO ${schema}.threads (id, owner_id, title, created_at, updated_at, metadata, title_note)
         VALUES ($1, $2, $3, $4::bigint, $4, $5, $6)
         ON CONFLICT (id) DO NOTHING RETURNING *
       )
       SELECT ${columns}, queue, incarnation, true AS "isNew" FROM created
       UNION ALL SELECT ${columns}, queue, incarnation, false FROM ${schema}.threads WHERE id = $1`,
    ),
    readThread: statement(
      'read-thread',
      `SELECT ${columns}, queue, incarnation FROM ${schema}.threads WHERE id = $1`,
    ),
    readSeqs: statement(
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
    deleteThread: statement(
      'delete-thread',
      `DELETE FROM ${schema}.threads WHERE id = $1 RETURNING incarnation`,
    ),
    // Waits for a locked row, and then compares its current metadata, not those at the start of the
    // statement.
    setMetadata: statement(
      'set-metadata',
      `WITH changed AS (
         UPDATE ${schema}.threads SET metadata = $3 WHERE id = $1 AND metadata = $2 RETURNING id
       )
       SELECT EXISTS (SELECT FROM changed) AS "isSet" FROM ${schema}.threads WHERE id = $1`,
    ),
    deleteMessages: statement(
      'delete-messages',
      `WITH gone AS (DELETE FROM ${schema}.messages WHERE thread_id = $1 RETURNING 1)
       SELECT count(*)::integer AS messages FROM gone`,
    ),
    deleteRows: [
      ...['events', 'calls', 'inputs', 'search_threads', 'search_texts', 'repairs'].map((table) =>
        statement(`delete-${table}`, `DELETE FROM ${schema}.${table} WHERE thread_id = $1`),
      ),
      releaseFilesStatement(schema),
      deleteSharesStatement(schema),
    ],
    requestStop: statement(
      'request-stop',
      `WITH stopped AS (
         UPDATE ${schema}.threads SET stop_fence = fence
         WHERE id = $1 AND lease_holder IS NOT NULL AND ($2::text IS NULL OR lease_turn = $2)
         RETURNING id, lease_turn, fence, seq
       )
       SELECT s.lease_turn AS "turnId", s.fence, s.seq
       FROM ${schema}.threads t LEFT JOIN stopped s ON true WHERE t.id = $1`,
    ),
    findInput: statement(
      'find-input',
      `SELECT turn_id AS "turnId" FROM ${schema}.inputs WHERE thread_id = $1 AND message_id = $2`,
    ),
    findAbandonedRuns: statement(
      'find-abandoned-runs',
      `SELECT id AS "threadId", lease_turn AS "turnId", lease_holder AS holder, fence
       FROM ${schema}.threads
       WHERE lease_holder IS NOT NULL AND NOT ${leaseHeld}
       ORDER BY lease_until LIMIT $1`,
    ),
    findAbandonedRun: statement(
      'find-abandoned-run',
      `SELECT id AS "threadId", lease_turn AS "turnId", lease_holder AS holder, fence
       FROM ${schema}.threads
       WHERE id = $1 AND lease_holder IS NOT NULL AND NOT ${leaseHeld}`,
    ),
  }
}

/** See `Store.rewriteThread`. Returns the thread's new seq, or the reason of the refusal. */
export async function rewriteThread(
  database: Database,
  /** Quoted. */
  schema: string,
  rewrite: ThreadRewrite,
): Promise<Seq | Exclude<RewriteResult, 'rewritten'>> {
  const { threadId, from } = rewrite
  const commits = await runPaced(planRewriteInSteps(rewrite), createPacer())
  const { lock, deleteFrom } = rewriteStatements(schema)
  return database.transaction(async (run) => {
    // A concurrent append finds this row locked (`busy`), and with its next attempt the thread rewritten.
    const [row] = await run<RewrittenHead>(lock, [threadId])
    if (row === undefined) return 'stale'
    const refusal = judgeRewrite(row, rewrite)
    if (refusal !== null) return refusal
    for (const statement of deleteFrom) await run(statement, [threadId, from])
    let { seq } = row
    for (const result of await createCommitWriter(run, schema)(commits)) {
      if (result.kind !== 'appended') throw toRewriteFault(result)
      ;({ seq } = result)
    }
    return seq
  })
}

const rewriteStatements = (schema: string) => ({
  lock: statement(
    'lock-for-rewrite',
    `SELECT seq, incarnation, ${leaseHeld} AS "isHeld", queue <> '[]' AS "hasQueue"
     FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
  ),
  /** Inputs and calls first: the messages determine which of them are deleted. */
  deleteFrom: [
    statement(
      'delete-inputs-from',
      `DELETE FROM ${schema}.inputs WHERE thread_id = $1 AND turn_id IN (
         SELECT message_id FROM ${schema}.messages WHERE thread_id = $1 AND seq >= $2)`,
    ),
    statement(
      'delete-calls-from',
      `DELETE FROM ${schema}.calls WHERE thread_id = $1 AND message_id IN (
         SELECT message_id FROM ${schema}.messages
         WHERE thread_id = $1 AND seq >= $2 AND role = 'assistant')`,
    ),
    statement(
      'delete-messages-from',
      `DELETE FROM ${schema}.messages WHERE thread_id = $1 AND seq >= $2`,
    ),
    statement(
      'delete-events-from',
      `DELETE FROM ${schema}.events WHERE thread_id = $1 AND seq >= $2`,
    ),
  ],
})

const statement = (name: string, text: string): Statement => ({ name: `holdfast-${name}`, text })
