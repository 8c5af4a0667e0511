import type { MessageId, OwnerId, ThreadId } from '../../core/ids.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { commitGroup } from '../commit-group.ts'
import { judgeAppend, newThreadHead } from '../lease.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import type { AppendResult } from '../store.ts'
import {
  type CommitRow,
  type CommitTables,
  commitStatement,
  commitValues,
  tablesOf,
} from './commit-statement.ts'
import { readSqlState } from './postgres-error.ts'
import type { RunStatement, Statement } from './statement.ts'

export type CommitWriter = (commits: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>

/** `schema` is quoted. */
export function createCommitWriter(run: RunStatement, schema: string): CommitWriter {
  const statements: Readonly<Record<CommitTables, Statement>> = {
    events: commitStatement(schema, 'events'),
    calls: commitStatement(schema, 'calls'),
    all: commitStatement(schema, 'all'),
  }
  const write = async (round: readonly PlannedCommit[]): Promise<readonly AppendResult[]> => {
    const tables = tablesOf(round)
    const rows = await run<CommitRow>(statements[tables], commitValues(round, tables))
    const results: AppendResult[] = []
    for (const row of rows) results[row.nth - 1] = toResult(round[row.nth - 1], row)
    return results
  }
  return async (commits) => {
    const results = new Map<PlannedCommit, AppendResult>()
    for (const round of toRounds(commits)) {
      const written = await commitGroup(round, write, isConflict)
      for (const [index, commit] of round.entries()) {
        results.set(commit, written[index] as AppendResult)
      }
    }
    return commits.map((commit) => results.get(commit) as AppendResult)
  }
}

/** The first of each thread, then the second of each that has one, and so on: a statement moves a row once. */
function toRounds(commits: readonly PlannedCommit[]): readonly (readonly PlannedCommit[])[] {
  const rounds: PlannedCommit[][] = []
  const seen = new Map<ThreadId, number>()
  for (const commit of commits) {
    const { threadId } = commit.append
    const round = seen.get(threadId) ?? 0
    seen.set(threadId, round + 1)
    ;(rounds[round] ??= []).push(commit)
  }
  return rounds
}

function toResult(commit: PlannedCommit | undefined, row: CommitRow): AppendResult {
  if (commit === undefined) throw new HoldfastError('store-failed', 'An answer to no question.')
  const { append, size } = commit
  const { seq, fence } = row
  if (seq !== null && fence !== null) {
    return {
      kind: 'appended',
      firstSeq: seq - size + 1,
      seq,
      ...(append.lease === undefined ? {} : { fence }),
      stopRequested: row.isStopping === true,
    }
  }
  const found = toHead(row)
  if (found === null && row.exists) return { kind: 'busy' }
  const { create } = append
  const head = found ?? (create === undefined ? null : newThreadHead(create.ownerId))
  // Without a reason: it was made by somebody else after this statement had begun, and the next sees it.
  return judgeAppend(head, () => row.isHeld === true, append) ?? { kind: 'busy' }
}

const toHead = (row: CommitRow) =>
  row.headSeq === null
    ? null
    : {
        ownerId: row.headOwner as OwnerId,
        seq: row.headSeq,
        fence: row.headFence ?? 0,
        holder: row.headHolder,
        turnId: row.headTurn as MessageId | null,
        until: null,
        stopFence: null,
      }

/** The tables refuse a row (class 22 or 23): whose. Nothing of the statement was stored then. */
function isConflict(error: unknown): 'message' | 'call' | null {
  const cause = error instanceof HoldfastError ? error.cause : error
  if (!/^2[23]/.test(readSqlState(cause) ?? '')) return null
  return (cause as { readonly table?: string }).table === 'calls' ? 'call' : 'message'
}
