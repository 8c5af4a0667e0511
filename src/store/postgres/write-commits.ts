import { HoldfastError } from '../../core/holdfast-error.ts'
import type { OwnerId, ThreadId } from '../../core/ids.ts'
import { type PausableWork, runToEnd } from '../../core/pausable-work.ts'
import { isLong, toRefusal } from '../commit-group.ts'
import { appendedAt, judgeAppend, newThreadHead } from '../lease.ts'
import { createPacer, runPaced } from '../pacer.ts'
import { drawMark } from '../place-evidence.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import { createSteadyClock, type SteadyClock } from '../steady-clock.ts'
import type { AppendResult } from '../store.ts'
import type { ReadCommitFate } from './commit-fate.ts'
import {
  type CommitKind,
  commitKinds,
  commitValues,
  type GroupSize,
  groupSizeOf,
  kindOf,
  leaseMsOf,
} from './commit-parameters.ts'
import { type CommitRow, commitStatement } from './commit-statement.ts'
import { isBlocked, isLost, isOutOfReach, readSqlState } from './postgres-error.ts'
import { encodeLists, type RunStatement, type Statement } from './statement.ts'

export type CommitWriter = (commits: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>

/**
 * How many commits of a group may meet a lock, one after the other, before the rest is returned as `busy`: of those that
 * met none before, and of those that did. What is left comes first the next time.
 */
const [mostFound, mostBlocked] = [200, 20] as const

/** What writers outside of a transaction need. */
export interface CommitWriterParts {
  /**
   * If the answer to a commit was lost, the commit is looked up before it is written again, now or when the same planned
   * commit is passed again.
   */
  readonly readFate: ReadCommitFate
  /** Runs the statement of a commit of thousands of rows, which takes longer than others may. */
  readonly runLong: RunStatement
  /** Waits next to no time for a lock: to find which commits of a group are blocked. */
  readonly runBriefly: RunStatement
  /** How far the database's clock is believed. @default all of it */
  readonly clock: SteadyClock
}

/** `schema` is quoted. */
export function createCommitWriter(
  run: RunStatement,
  schema: string,
  {
    readFate,
    runLong = run,
    runBriefly = run,
    clock = createSteadyClock(),
  }: Partial<CommitWriterParts> = {},
): CommitWriter {
  const statementsFor = (group: GroupSize) =>
    Object.fromEntries(
      commitKinds.map((kind) => [kind, commitStatement(schema, kind, group)]),
    ) as Readonly<Record<CommitKind, Statement>>
  const statements = { one: statementsFor('one'), many: statementsFor('many') }
  /**
   * Commits that may have been stored, or may still be, although no answer arrived: a server that is slow to
   * commit (a disk, a standby) shows nothing of a commit until it is done.
   */
  const inDoubt = new WeakSet<PlannedCommit>()
  /**
   * Commits that have waited for a lock in vain, by themselves, and which of these attempts was their last. They are kept
   * out of the statement of the others, which would wait for the same lock, and are tried in this order: otherwise the same
   * few would be tried each time, and all behind them never (OP7).
   */
  const blocked = new WeakMap<PlannedCommit, number>()
  let attempts = 0
  /** Inside a transaction a lock that was met has ended all of it. */
  const isBusy = (error: unknown) => readFate !== undefined && isBlocked(error)

  return async (commits) => {
    const results = new Map<PlannedCommit, AppendResult>()
    const isOpen = (commit: PlannedCommit) => !results.has(commit)

    const writeOnce = async (
      group: readonly PlannedCommit[],
      runThem: RunStatement,
    ): Promise<void> => {
      const kind = kindOf(group)
      const isOneLong = group.length === 1 && isLong(group)
      for (const { append } of group) clock.leased(leaseMsOf(append.lease) ?? 0)
      const values = commitValues(group, kind, clock.latest())
      const encoded = isLong(group)
        ? await runPaced(encodeValues(values), createPacer())
        : runToEnd(values)
      const statement = statements[groupSizeOf(group)][kind]
      const rows = await (isOneLong ? runLong : runThem)<CommitRow>(statement, encoded)
      if (rows[0] !== undefined) clock.saw(rows[0].clock)
      const byThread = new Map(rows.map((row) => [row.id, row]))
      for (const commit of group) {
        const row = byThread.get(commit.append.threadId)
        if (row === undefined) throw new HoldfastError('store-failed', 'A commit got no answer.')
        results.set(commit, toResult(commit, row))
      }
    }

    /** False: the database refused one of them, or a lock did not come free, and nothing of the group was stored. */
    const tryTogether = async (
      group: readonly PlannedCommit[],
      runThem: RunStatement,
    ): Promise<boolean> => {
      if (group.length < 2) return group.length === 0
      try {
        await writeOnce(group, runThem)
        return true
      } catch (error) {
        if (isConflict(error) === null && !isBusy(error)) throw error
        return false
      }
    }

    const writeAlone = async (commit: PlannedCommit, runIt = runBriefly): Promise<void> => {
      try {
        blocked.delete(commit)
        await writeOnce([commit], runIt)
      } catch (error) {
        const conflict = isConflict(error)
        if (conflict === null && !isBusy(error)) throw error
        if (conflict === null) blocked.set(commit, ++attempts)
        results.set(commit, conflict === null ? { kind: 'busy' } : toRefusal(commit, conflict))
      }
    }

    const writeEach = async (group: readonly PlannedCommit[], most: number): Promise<void> => {
      for (const commit of group) {
        if (attempts < most) await writeAlone(commit)
        else results.set(commit, { kind: 'busy' })
      }
    }

    /** In as many parts as each has commits: few are blocked, or many, and either way it takes few statements. */
    const writeParts = async (group: readonly PlannedCommit[]): Promise<void> => {
      const most = attempts + mostFound
      const size = Math.ceil(Math.sqrt(group.length))
      for (let from = 0; from < group.length; from += size) {
        const part = group.slice(from, from + size)
        if (!(await tryTogether(part, runBriefly))) await writeEach(part, most)
      }
    }

    const write = async (group: readonly PlannedCommit[]): Promise<void> => {
      const free = group.filter((commit) => !blocked.has(commit))
      const known = group
        .filter((commit) => blocked.has(commit))
        .toSorted((one, other) => (blocked.get(one) ?? 0) - (blocked.get(other) ?? 0))
      const [first] = free
      if (first !== undefined && free.length === 1) await writeAlone(first, run)
      else if (!(await tryTogether(free, run))) await writeParts(free)
      await writeEach(known, attempts + mostBlocked)
    }

    const settle = async (group: readonly PlannedCommit[], read: ReadCommitFate): Promise<void> => {
      for (const commit of group) {
        const fate = await read(commit)
        if (fate.kind === 'appended') results.set(commit, fate)
      }
    }

    /**
     * A commit in doubt may be refused because it was stored by an earlier attempt. Returned as `stale`, its
     * writer would store all of it a second time (LG1), so it is looked up first.
     */
    const settleRefused = async (
      round: readonly PlannedCommit[],
      read: ReadCommitFate,
    ): Promise<void> => {
      const isRefused = (commit: PlannedCommit) => {
        const kind = results.get(commit)?.kind
        return inDoubt.has(commit) && kind !== undefined && kind !== 'appended' && kind !== 'busy'
      }
      const refused = round.filter(isRefused)
      const refusals = new Map(refused.map((commit) => [commit, results.get(commit)] as const))
      for (const commit of refused) results.delete(commit)
      await settle(refused, read)
      for (const [commit, result] of refusals) {
        if (isOpen(commit) && result !== undefined) results.set(commit, result)
      }
    }

    const writeSafely = async (round: readonly PlannedCommit[], isAgain = false): Promise<void> => {
      try {
        await write(round.filter(isOpen))
        if (readFate !== undefined) await settleRefused(round, readFate)
      } catch (error) {
        if (readFate === undefined || !isLost(error)) throw error
        const open = round.filter(isOpen)
        for (const commit of open) inDoubt.add(commit)
        try {
          await settle(open, readFate)
        } catch (fault) {
          // Still unknown: the commits are looked up when they are passed again.
          throw isOutOfReach(fault) ? error : fault
        }
        if (isAgain) throw error
        await writeSafely(round, true)
      }
    }

    try {
      if (readFate !== undefined) {
        await settle(
          commits.filter((commit) => inDoubt.has(commit)),
          readFate,
        )
      }
      for (const round of toRounds(commits.filter(isOpen))) {
        if (round.some(isOpen)) await writeSafely(round)
      }
    } catch (error) {
      if (isOutOfReach(error)) clock.lost()
      // Some were stored, and their writers need the result; the rest was not, or is looked up later.
      if (results.size === 0)
        throw withDoubt(
          error,
          commits.some((commit) => inDoubt.has(commit)),
        )
    }
    return commits.map((commit) => {
      const result = results.get(commit) ?? { kind: 'busy' }
      const isDoubtful = result.kind === 'busy' && inDoubt.has(commit)
      // Its result must not claim that nothing was stored: the attempt without an answer may hold the row, and store it.
      return isDoubtful ? { ...result, isInDoubt: true } : result
    })
  }
}

function* encodeValues(values: PausableWork<readonly unknown[]>): PausableWork<readonly unknown[]> {
  return yield* encodeLists(yield* values)
}

/** An error must not claim that nothing was stored if an earlier attempt may have stored it. */
function withDoubt(error: unknown, isInDoubt: boolean): unknown {
  if (!isInDoubt || !(error instanceof HoldfastError) || !error.isTemporary) return error
  return new HoldfastError(error.code, error.message, { cause: error, isInDoubt: true })
}

/**
 * The first commit of each thread, then the second of each that has one, and so on: a statement can update a
 * row only once.
 */
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

function toResult({ append, size }: PlannedCommit, row: CommitRow): AppendResult {
  const { seq, fence } = row
  if (seq !== null && fence !== null) {
    const head = { seq, fence, incarnation: row.incarnation ?? '' }
    return appendedAt(head, row.isStopping === true, size, append.lease)
  }
  const found = toHead(row)
  if (found === null && row.exists) return { kind: 'busy' }
  const { create } = append
  const head = found ?? (create === undefined ? null : newThreadHead(create.ownerId, drawMark()))
  // No reason was found: another transaction created the thread after this statement had begun, and the next
  // attempt sees it.
  return judgeAppend(head, () => row.isHeld === true, append) ?? { kind: 'busy' }
}

const toHead = (row: CommitRow) =>
  row.headSeq === null
    ? null
    : {
        ownerId: row.headOwner as OwnerId,
        incarnation: row.incarnation ?? '',
        seq: row.headSeq,
        fence: row.headFence ?? 0,
        holder: row.headHolder,
        turnId: row.headTurn,
        until: null,
        stopFence: null,
      }

/** Which id a constraint refused (class 22 or 23). Nothing of the statement was stored then. */
function isConflict(error: unknown): 'message' | 'call' | null {
  const cause = error instanceof HoldfastError ? error.cause : error
  if (!/^2[23]/.test(readSqlState(cause) ?? '')) return null
  return (cause as { readonly table?: string }).table === 'calls' ? 'call' : 'message'
}
