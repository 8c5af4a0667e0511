import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLifecycle } from '../../core/lifecycle.ts'
import type { TurnStatus, UserMessage } from '../../core/message.ts'
import { parseVersionId } from '../../core/versions.ts'
import type { LedgerRows, LedgerSource, StoredCallRow } from '../ledger-rows.ts'
import type { StoredOutput } from '../stored-output.ts'
import { readVersionsText, type VersionPath } from '../version-path.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import type { RunStatement, Statement } from './statement.ts'

/** The rows of several tables come in one list, distinguished by `kind`. */
type LedgerRow = ThreadColumns | MessageColumns | BatchColumns | CallColumns

interface ThreadColumns {
  readonly kind: 'thread'
  readonly threadId: ThreadId
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation: string
  readonly mark: string
  /** The waiting inputs, as JSON text. */
  readonly content: string
  /** The running turn, where the query asks for it. */
  readonly messageId: MessageId | null
  /** See `ThreadRow`. */
  readonly newest: MessageId | null
  readonly edge: MessageId | null
}

interface MessageColumns {
  readonly kind: 'message'
  readonly messageId: MessageId
  readonly role: UserMessage['role'] | 'assistant'
  readonly state: TurnStatus | null
  readonly seq: Seq
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly mark: string
  readonly at: number
  readonly content: string | null
  /** JSON text. */
  readonly versions: string | null
  /** False: only its seq was read, because the rows before it reached the limit of bytes. */
  readonly isRead: boolean
}

/** A batch of events. */
interface BatchColumns {
  readonly kind: 'event'
  readonly messageId: MessageId | null
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly mark: string
  readonly at: number
  /** The lines of its events. */
  readonly content: string
  readonly isRead: boolean
}

interface CallColumns extends StoredOutput {
  readonly kind: 'call'
  readonly messageId: MessageId
  readonly callId: CallId
  readonly seq: Seq
  readonly name: string
  readonly state: CallLifecycle
  /** The input. */
  readonly content: string | null
}

/** See `PlaceEvidence`. */
interface PlaceColumns {
  readonly incarnation: string
  readonly ownerId: OwnerId
  readonly threadSeq: Seq
  readonly mark: string | null
  readonly newestId: MessageId | null
  readonly newestBodySeq: Seq | null
}

/**
 * A message on one of the two paths, which `part` names. The row with `thread` has the thread's seq, and its incarnation in
 * place of an id.
 */
interface PathColumns {
  readonly part: 'thread' | 'wanted' | 'fork' | 'hide' | 'show'
  readonly ownerId: OwnerId | null
  readonly seq: Seq
  readonly id: MessageId | null
  readonly role: UserMessage['role'] | 'assistant' | null
}

/** The result of one call. */
interface OutputColumns {
  readonly callId: CallId
  readonly output: string | null
  readonly modelOutput: string | null
}

/** Each read is one statement, so one snapshot and one round trip. */
export function createPostgresSource(
  run: RunStatement,
  statements: LedgerStatements,
): LedgerSource {
  const read = async (statement: Statement, values: readonly unknown[]): Promise<LedgerRows> =>
    sortRows(await run<LedgerRow>(statement, values))
  return {
    readPageRows(query) {
      const { threadId, before, edge, order, live, limit, places, mostBytes, maxBytes } = query
      const isNewest = order !== 'oldest-first'
      const from = before ?? (isNewest ? Number.MAX_SAFE_INTEGER : 0)
      const values = [
        mostBytes,
        threadId,
        from,
        places,
        limit,
        live === 'exclude',
        maxBytes,
        edge ?? null,
      ]
      return read(isNewest ? statements.readNewest : statements.readOldest, values)
    },
    readChangeRows: ({ threadId, after, limit, mostBytes, maxBytes }) =>
      read(statements.readChanges, [mostBytes, threadId, after, limit, maxBytes]),
    readMessageRows: (threadId, id, mostBytes) =>
      read(statements.readMessage, [mostBytes, threadId, id]),
    readTurnRows: (id, mostBytes) => read(statements.findTurn, [mostBytes, id]),
    readCallRows: (threadId, id, mostBytes) => read(statements.readCall, [mostBytes, threadId, id]),
    async readPath(threadId, target) {
      const [placed, whole = placed] = parseVersionId(target)
      const isPlaced = placed?.seq != null
      const values = [threadId, whole?.id, placed?.seq, isPlaced ? placed.id : null]
      return toPath(await run<PathColumns>(statements.readPath, values))
    },
    async readPlace(threadId, seq) {
      const [found] = await run<PlaceColumns>(statements.readPlace, [threadId, seq])
      if (found === undefined) return null
      const { newestId: id, newestBodySeq: bodySeq, ...place } = found
      return { ...place, newest: id === null ? null : { id, bodySeq } }
    },
    async readOutputs(threadId, ids) {
      const rows = await run<OutputColumns>(statements.readOutputs, [threadId, ids])
      return new Map(
        rows.map(({ callId, output, modelOutput }) => [callId, { output, modelOutput }]),
      )
    },
  }
}

function toPath(rows: readonly PathColumns[]): VersionPath | null {
  const thread = rows.find(({ part }) => part === 'thread')
  const fork = rows.find(({ part }) => part === 'fork')
  const target = rows.find(({ part }) => part === 'wanted')
  if (thread?.ownerId == null || fork === undefined || target?.id == null) return null
  const path = (wanted: 'hide' | 'show') =>
    readVersionsText(rows.find(({ part }) => part === wanted)?.id ?? null) ?? []
  const { ownerId, seq, id: incarnation } = thread
  const { id, role } = target
  const wanted = { id, seq: target.seq, role: role ?? 'user' }
  const head = { ownerId, seq, incarnation: incarnation ?? '' }
  return { ...head, wanted, after: fork.seq, hide: path('hide'), show: path('show') }
}

function sortRows(rows: readonly LedgerRow[]): LedgerRows {
  // The rows of a UNION come in no defined order.
  const ordered = rows.toSorted((left, right) => left.seq - right.seq)
  const thread = ordered.find((row) => row.kind === 'thread')
  const messages = ordered.filter((row) => row.kind === 'message')
  const batches = ordered.filter((row) => row.kind === 'event')
  // Each kind in its own order: bodies by the seq of the body, batches by that of their first event.
  const unread = [
    ...messages.filter(({ isRead }) => !isRead).map(({ bodySeq, seq }) => bodySeq ?? seq),
    ...batches.filter(({ isRead }) => !isRead).map(({ seq, size }) => seq - size + 1),
  ]
  return {
    thread: thread && {
      threadId: thread.threadId,
      ownerId: thread.ownerId,
      seq: thread.seq,
      incarnation: thread.incarnation,
      mark: thread.mark,
      queue: thread.content,
      live: thread.messageId,
      newest: thread.newest,
      edge: thread.edge,
    },
    messages: messages
      .filter(({ isRead }) => isRead)
      .map(
        ({
          messageId: id,
          role,
          state: status,
          seq,
          bodySeq,
          commitSeq,
          mark,
          at,
          content: body,
          versions,
        }) => ({
          id,
          role,
          status,
          seq,
          bodySeq,
          commitSeq,
          mark,
          at,
          body,
          versions: readVersionsText(versions),
        }),
      ),
    batches: batches
      .filter(({ isRead }) => isRead)
      .map(({ messageId: turnId, seq, size, commitSeq, mark, at, content: payload }) => ({
        turnId,
        seq,
        size,
        commitSeq,
        mark,
        at,
        payload,
      })),
    calls: ordered
      .filter((row) => row.kind === 'call')
      .map(
        ({
          messageId,
          callId,
          name,
          state,
          content,
          output,
          outputBytes,
          modelOutput,
        }): StoredCallRow => ({
          turnId: messageId,
          callId,
          name,
          lifecycle: state,
          input: content,
          output,
          outputBytes,
          modelOutput,
        }),
      ),
    unread: unread.length === 0 ? null : Math.min(...unread),
  }
}
