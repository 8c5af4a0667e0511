import type { LedgerRows, LedgerSource, StoredCallRow } from '../ledger-rows.ts'
import type { LedgerRow } from './ledger-columns.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import type { RunStatement, Statement } from './statement.ts'

/** Each is one statement, so one snapshot and one round trip. */
export function createPostgresSource(
  run: RunStatement,
  statements: LedgerStatements,
): LedgerSource {
  const read = async (statement: Statement, values: readonly unknown[]): Promise<LedgerRows> =>
    sortRows(await run<LedgerRow>(statement, values))
  return {
    readPageRows({ threadId, before, order, live, limit, places, mostBytes }) {
      const isNewest = order !== 'oldest-first'
      const from = before ?? (isNewest ? Number.MAX_SAFE_INTEGER : 0)
      const values = [mostBytes, threadId, from, places, limit, live === 'exclude']
      return read(isNewest ? statements.readNewest : statements.readOldest, values)
    },
    readChangeRows: ({ threadId, after, limit, mostBytes }) =>
      read(statements.readChanges, [mostBytes, threadId, after, limit]),
    readMessageRows: (threadId, id, mostBytes) =>
      read(statements.readMessage, [mostBytes, threadId, id]),
    readTurnRows: (id, mostBytes) => read(statements.findTurn, [mostBytes, id]),
    readCallRows: (threadId, id, mostBytes) => read(statements.readCall, [mostBytes, threadId, id]),
  }
}

function sortRows(rows: readonly LedgerRow[]): LedgerRows {
  // The arms of a UNION have no order of their own.
  const ordered = rows.toSorted((left, right) => left.seq - right.seq)
  const thread = ordered.find((row) => row.kind === 'thread')
  return {
    thread: thread && {
      threadId: thread.threadId,
      ownerId: thread.ownerId,
      seq: thread.seq,
      live: thread.messageId,
    },
    messages: ordered
      .filter((row) => row.kind === 'message')
      .map(
        ({ messageId: id, role, state: status, seq, bodySeq, commitSeq, at, content: body }) => ({
          id,
          role,
          status,
          seq,
          bodySeq,
          commitSeq,
          at,
          body,
        }),
      ),
    batches: ordered
      .filter((row) => row.kind === 'event')
      .map(({ messageId: turnId, seq, size, commitSeq, at, content: payload }) => ({
        turnId,
        seq,
        size,
        commitSeq,
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
          life: state,
          input: content,
          output,
          outputBytes,
          modelOutput,
        }),
      ),
  }
}
