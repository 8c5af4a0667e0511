import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import { callsOf, type Message } from '../../core/message.ts'
import { placesToRead, planPage } from '../../paging/plan-page.ts'
import { readFact, unpack } from '../event-pack.ts'
import type {
  Changes,
  ChangesQuery,
  FoundCall,
  FoundTurn,
  Page,
  PageQuery,
  StoredChange,
} from '../store.ts'
import type { LedgerRow, MessageRow, StoredEventRow } from './ledger-columns.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import {
  groupRows,
  type LedgerRows,
  mostBytes,
  readMessageRow,
  readSealed,
  readTurn,
  toPack,
} from './read-rows.ts'
import type { RunStatement, Statement } from './statement.ts'
import { readUserRow } from './user-row.ts'

/** The reads of what is in threads. Each is one statement, so one snapshot and one round trip. */
export function createLedgerReader(run: RunStatement, statements: LedgerStatements) {
  const full = mostBytes('full')
  const read = async (statement: Statement, values: readonly unknown[]): Promise<LedgerRows> =>
    groupRows(await run<LedgerRow>(statement, values))

  return {
    async readPage(query: PageQuery): Promise<Page | null> {
      const { threadId, limit, results, order = 'newest-first' } = query
      const isNewest = order === 'newest-first'
      const rows = await read(isNewest ? statements.readNewest : statements.readOldest, [
        mostBytes(results),
        threadId,
        query.before ?? (isNewest ? Number.MAX_SAFE_INTEGER : 0),
        placesToRead(limit),
        limit,
        query.live === 'exclude',
      ])
      if (rows.thread === undefined) return null
      const shown = isNewest ? rows.messages.toReversed() : rows.messages
      const edges = planPage(
        shown.map(({ seq }) => seq),
        limit,
      )
      return {
        seq: rows.thread.seq,
        messages: shown.slice(0, edges.places.length).map((row) => readMessageRow(row, rows)),
        hasMore: edges.hasMore,
        live: rows.thread.messageId,
      }
    },

    async readChanges({ threadId, after, limit, results }: ChangesQuery): Promise<Changes | null> {
      const most = mostBytes(results)
      const rows = await read(statements.readChanges, [most, threadId, after, limit + 1])
      if (rows.thread === undefined) return null
      const all = [
        ...rows.events.flatMap((row) => listFacts(row, rows)).filter(({ seq }) => seq > after),
        ...rows.messages.map((row) => ({
          seq: row.bodySeq ?? row.seq,
          read: () => readBodyChange(row, rows),
        })),
      ].sort((left, right) => left.seq - right.seq)
      const shown = all.slice(0, limit)
      const { seq } = rows.thread
      return {
        seq,
        reached: shown.length < all.length ? (shown.at(-1)?.seq ?? after) : seq,
        changes: shown.map((change) => change.read()),
      }
    },

    async readMessage(threadId: ThreadId, messageId: MessageId): Promise<Message | null> {
      const rows = await read(statements.readMessage, [full, threadId, messageId])
      const [row] = rows.messages
      return row === undefined ? null : readMessageRow(row, rows)
    },

    async findTurn(messageId: MessageId): Promise<FoundTurn | null> {
      const rows = await read(statements.findTurn, [full, messageId])
      const [row] = rows.messages
      if (row === undefined || rows.thread === undefined) return null
      const { threadId, ownerId } = rows.thread
      return { threadId, ownerId, turn: readTurn(row, rows) }
    },

    async readCall(threadId: ThreadId, callId: CallId): Promise<FoundCall | null> {
      const rows = await read(statements.readCall, [full, threadId, callId])
      const [row] = rows.messages
      if (row === undefined) return null
      const turn = readTurn(row, rows)
      for (const call of callsOf(turn)) if (call.id === callId) return { call, turn }
      return null
    },
  }
}

/** Each is read only if it is shown. */
function listFacts(
  row: StoredEventRow,
  { outputOf }: LedgerRows,
): readonly { readonly seq: Seq; readonly read: () => StoredChange }[] {
  return unpack(toPack(row)).map(({ seq, at, turnId, fact }) => ({
    seq,
    read: () => ({
      kind: 'event',
      seq,
      commit: row.commitSeq,
      event: readFact({ seq, at, turnId }, fact, outputOf),
    }),
  }))
}

/** A message that was added, or a turn as it was sealed. */
function readBodyChange(row: MessageRow, rows: LedgerRows): StoredChange {
  const { commitSeq: commit } = row
  return row.role === 'assistant'
    ? { kind: 'turn', seq: row.bodySeq ?? row.seq, commit, turn: readSealed(row, rows) }
    : { kind: 'event', seq: row.seq, commit, event: readUserRow(row) }
}
