import { HoldfastError } from '../../core/holdfast-error.ts'
import type { OwnerId, ThreadId } from '../../core/ids.ts'
import { type PausableWork, runToEnd } from '../../core/pausable-work.ts'
import { isLong, toRefusal } from '../commit-group.ts'
import { type Appended, judgeAppend, newThreadHead } from '../lease.ts'
import { createPacer, runPaced } from '../pacer.ts'
import { isAnother } from '../../core/thread-place.ts'
import { drawMark } from '../place-evidence.ts'
import type { PlannedCommit } from '../plan-commit.ts'
import type { AppendResult } from '../store.ts'
import { type CommitKind, type CommitRow, commitStatement, kindOf } from './commit-statement.ts'
import { commitValues } from './commit-values.ts'
import { isBlocked, isLost, readSqlState } from './postgres-error.ts'
import { encodeLists, type RunStatement, type Statement, toPlainText } from './statement.ts'

export type CommitWriter = (commits: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>

/**
 * How many commits of a group may wait for a lock, one after the other, before the rest is returned as `busy`. What is left
 * comes first the next time.
 */
const mostBlocked = 3

/** What writers outside of a transaction need. */
export interface CommitWriterParts {
  /**
   * If the answer to a commit was lost, the commit is looked up before it is written again, now or when the same planned
   * commit is passed again.
   */
  readonly readFate: ReadCommitFate
  /** Runs the statement of a commit of thousands of rows, which takes longer than others may. */
  readonly runLong: RunStatement
}

/** `schema` is quoted. */
export function createCommitWriter(
  run: RunStatement,
  schema: string,
  { readFate, runLong = run }: Partial<CommitWriterParts> = {},
): CommitWriter {
  const statements: Readonly<Record<CommitKind, Statement>> = {
    events: commitStatement(schema, 'events'),
    calls: commitStatement(schema, 'calls'),
    begin: commitStatement(schema, 'begin'),
    change: commitStatement(schema, 'change'),
    all: commitStatement(schema, 'all'),
  }
  /**
   * Commits that may have been stored, or may still be, although no answer arrived: a server that is slow to
   * commit (a disk, a standby) shows nothing of a commit until it is done.
   */
  const inDoubt = new WeakSet<PlannedCommit>()
  /**
   * Commits that have waited for a lock in vain, by themselves, and which of these attempts was their last. They are kept
   * out of the statement of the others, which would wait for the same lock, and are tried in this order: otherwise the same
   * three would be tried each time, and all behind them never (OP7).
   */
  const blocked = new WeakMap<PlannedCommit, number>()
  let attempts = 0

  return async (commits) => {
    const results = new Map<PlannedCommit, AppendResult>()
    const isOpen = (commit: PlannedCommit) => !results.has(commit)

    const writeOnce = async (group: readonly PlannedCommit[]): Promise<void> => {
      const kind = kindOf(group)
      const isOneLong = group.length === 1 && isLong(group)
      const encoded = isLong(group)
        ? await runPaced(encodeValues(group, kind), createPacer())
        : runToEnd(commitValues(group, kind))
      const rows = await (isOneLong ? runLong : run)<CommitRow>(statements[kind], encoded)
      const byThread = new Map(rows.map((row) => [row.id, row]))
      for (const commit of group) {
        const row = byThread.get(commit.append.threadId)
        if (row === undefined) throw new HoldfastError('store-failed', 'A commit got no answer.')
        results.set(commit, toResult(commit, row))
      }
    }

    /** False: the database refused one of them, or a lock did not come free, and nothing of the group was stored. */
    const tryTogether = async (group: readonly PlannedCommit[]): Promise<boolean> => {
      if (group.length < 2) return group.length === 0
      try {
        await writeOnce(group)
        return true
      } catch (error) {
        if (isConflict(error) === null && !isBlocked(error)) throw error
        return false
      }
    }

    const writeAlone = async (commit: PlannedCommit): Promise<void> => {
      try {
        blocked.delete(commit)
        await writeOnce([commit])
      } catch (error) {
        const conflict = isConflict(error)
        if (conflict === null && !isBlocked(error)) throw error
        if (conflict === null) blocked.set(commit, ++attempts)
        results.set(commit, conflict === null ? { kind: 'busy' } : toRefusal(commit, conflict))
      }
    }

    const write = async (group: readonly PlannedCommit[]): Promise<void> => {
      const free = group.filter((commit) => !blocked.has(commit))
      const alone = group
        .filter((commit) => blocked.has(commit))
        .toSorted((one, other) => (blocked.get(one) ?? 0) - (blocked.get(other) ?? 0))
      if (!(await tryTogether(free))) alone.unshift(...free)
      const most = attempts + mostBlocked
      for (const commit of alone) {
        if (attempts < most) await writeAlone(commit)
        else results.set(commit, { kind: 'busy' })
      }
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
          throw isTemporaryFault(fault) ? error : fault
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
      // Some were stored, and their writers need the result; the rest was not, or is looked up later.
      if (results.size === 0)
        throw toDoubt(
          error,
          commits.some((commit) => inDoubt.has(commit)),
        )
    }
    return commits.map((commit) => {
      const result = results.get(commit) ?? { kind: 'busy' }
      const isDoubtful = result.kind === 'busy' && inDoubt.has(commit)
      // Its writer must not be told that nothing was stored: the attempt without an answer may hold the row, and store it.
      return isDoubtful ? { ...result, isInDoubt: true } : result
    })
  }
}

function* encodeValues(
  commits: readonly PlannedCommit[],
  kind: CommitKind,
): PausableWork<readonly unknown[]> {
  return yield* encodeLists(yield* commitValues(commits, kind))
}

const isTemporaryFault = (error: unknown): boolean =>
  error instanceof HoldfastError && (error.isTemporary || error.isInDoubt)

/** An error must not claim that nothing was stored if an earlier attempt may have stored it. */
function toDoubt(error: unknown, isInDoubt: boolean): unknown {
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
    return {
      kind: 'appended',
      firstSeq: seq - size + 1,
      seq,
      ...(append.lease === undefined ? {} : { fence }),
      stopRequested: row.isStopping === true,
      ...(row.incarnation === null ? {} : { incarnation: row.incarnation }),
    }
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

/**
 * What happened to a commit whose answer was lost. `absent`: it was not stored when this was read, and may be
 * written; if a slow server stores it after all, the thread's seq refuses one of the two, and the next lookup
 * finds which.
 */
type CommitFate = Appended | { readonly kind: 'absent' }

export type ReadCommitFate = (commit: PlannedCommit) => Promise<CommitFate>

/** Looks a commit up by its rows, which are all stored or none. `schema` is quoted. */
export function createFateReader(run: RunStatement, schema: string): ReadCommitFate {
  const statement = fateStatement(schema)
  return async (commit) => {
    const [found] = await run<FateRow>(statement, fateValues(commit))
    return found === undefined ? { kind: 'absent' } : judgeFate(commit, found)
  }
}

/** The thread's current row, and how much of the commit is stored. */
interface FateRow {
  readonly incarnation: string
  readonly seq: number
  readonly fence: number
  readonly holder: string | null
  readonly turn: string | null
  readonly isStopping: boolean
  /** How many rows are stored as they were planned. */
  readonly same: number
}

function judgeFate({ append, size }: PlannedCommit, found: FateRow): CommitFate {
  const { lease, expectedSeq = 0, incarnation: plannedOn = '' } = append
  const { incarnation, seq, fence, holder } = found
  // Stored or not, its thread is gone: the one that has its id now refuses it.
  if (isAnother(plannedOn, incarnation)) return { kind: 'absent' }
  const isOurs = lease?.kind === 'acquire' && holder === toPlainText(lease.holder)
  const stored = (own: number): Appended => ({
    kind: 'appended',
    firstSeq: expectedSeq + 1,
    seq: size === 0 ? seq : expectedSeq + size,
    ...(lease === undefined ? {} : { fence: own }),
    stopRequested: lease?.kind === 'hold' && lease.fence === fence && found.isStopping,
    incarnation,
  })
  if (size === 0) {
    // A renewal may be written twice. A lease that was acquired or released need not be written again.
    const isReleased = lease?.kind === 'release' && holder === null && lease.fence === fence
    const isAcquired = isOurs && lease.turnId === found.turn && lease.overFence !== fence
    return isReleased || isAcquired ? stored(fence) : { kind: 'absent' }
  }
  if (seq < expectedSeq + size) return { kind: 'absent' }
  // Not stored, or replaced by a later snapshot of its turn: either way the thread's seq refuses it, and its
  // writer reads again.
  if (found.same === 0) return { kind: 'absent' }
  if (lease?.kind !== 'acquire') return stored(lease?.fence ?? fence)
  // Stored, and taken over since: the fence it was stored under is unknown. The thread's seq refuses it as
  // stale, too.
  return isOurs && lease.turnId === found.turn ? stored(fence) : { kind: 'absent' }
}

const fateStatement = (schema: string): Statement => ({
  name: 'holdfast-commit-fate',
  text: `
    SELECT t.incarnation, t.seq, t.fence, t.lease_holder AS holder, t.lease_turn AS turn,
      coalesce(t.stop_fence = t.fence, false) AS "isStopping",
      (SELECT count(*) FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS b(seq, at, payload)
        JOIN ${schema}.events AS e ON e.thread_id = t.id AND e.seq = b.seq AND e.at = b.at AND e.payload = b.payload)
      + (SELECT count(*) FROM unnest($5::text[], $6::bigint[], $7::text[])
          AS s(message_id, body_seq, body)
        JOIN ${schema}.messages AS m ON m.thread_id = t.id AND m.message_id = s.message_id AND m.body_seq = s.body_seq
          AND m.body = s.body)
      + (SELECT count(*) FROM unnest($8::bigint[], $9::text[], $10::bigint[]) AS n(seq, id, at)
        JOIN ${schema}.messages AS m ON m.thread_id = t.id AND m.seq = n.seq
          AND m.message_id = n.id AND m.created_at = n.at) AS same
    FROM ${schema}.threads AS t WHERE t.id = $1`.replaceAll(/\s+/g, ' '),
})

function fateValues({ append, batches, newMessages, changedMessages }: PlannedCommit) {
  const bodies = changedMessages.filter(({ snapshot }) => snapshot !== null)
  return [
    append.threadId,
    batches.map(({ seq }) => seq),
    batches.map(({ at }) => at),
    batches.map(({ payload }) => payload),
    bodies.map(({ id }) => id),
    bodies.map(({ snapshot }) => snapshot?.seq),
    bodies.map(({ snapshot }) => snapshot?.body),
    newMessages.map(({ seq }) => seq),
    newMessages.map(({ id }) => id),
    newMessages.map(({ at }) => at),
  ]
}
