import { assertNever } from '../core/assert-never.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { AuditThread, TurnHome } from '../store/audit.ts'
import type { Store } from '../store/store.ts'
import { ThreadCheck } from './check-thread.ts'
import { isSameProblem, type Problem } from './problem.ts'
import { type RepairContext, repairThread } from './repair-thread.ts'

/** Options of `checkStore`. */
export interface CheckOptions {
  /**
   * Repairs what can be repaired, thread by thread, and records each change.
   * @default false
   */
  readonly repair?: boolean
  /**
   * The clock that decides how long a turn has had no event, and that dates repairs.
   * @default Date.now
   */
  readonly now?: () => number
  /**
   * Called for each problem, once it is known whether it could be repaired. @default problems are only
   * counted in the report
   */
  readonly onProblem?: (problem: Problem, isMended: boolean) => void
  /** Called for each portion of rows that was read, with the counts so far. @default none */
  readonly onProgress?: (counts: CheckCounts) => void
}
/** What a check has read: the threads that exist, and the rows of all tables. */
export interface CheckCounts {
  readonly threads: number
  readonly rows: number
}
/** The outcome of a check: `found - mended` problems are left. */
export interface CheckReport extends CheckCounts {
  readonly found: number
  readonly mended: number
}

/**
 * Recomputes every thread from its events and reports each row that does not agree (CR6). One pass over one
 * snapshot, so that concurrent writes are never taken for damage.
 */
export async function checkStore(store: Store, options: CheckOptions = {}): Promise<CheckReport> {
  const { audit } = store
  if (audit === undefined) {
    throw new HoldfastError(
      'bad-request',
      `A store of the kind "${store.kind}" has no rows to check.`,
    )
  }
  const { now = Date.now, repair = false, onProblem, onProgress } = options
  const shared = findSecondHomes(await audit.findSharedTurns())
  const context: CheckContext = { store, audit, now, shared }
  const counts = { threads: 0, rows: 0, found: 0, mended: 0 }
  const report = (problem: Problem, isMended: boolean) => {
    counts.found++
    if (isMended) counts.mended++
    onProblem?.(problem, isMended)
  }

  const onRows = (rows: number) => {
    counts.rows += rows
    onProgress?.(counts)
  }
  for await (const finding of findProblems(context, undefined, onRows)) {
    if (finding.thread !== null) counts.threads++
    if (finding.problems.length === 0) continue
    const left = repair ? await mend(context, finding) : finding.problems
    const isLeft = (problem: Problem) => left.some((other) => isSameProblem(problem, other))
    for (const problem of finding.problems) report(problem, !isLeft(problem))
    const isNew = (problem: Problem) =>
      !finding.problems.some((other) => isSameProblem(problem, other))
    for (const problem of left.filter(isNew)) report(problem, false)
  }
  // Last, so that problems that were repaired are no longer among them.
  const isLeft = counts.found > counts.mended
  for (const what of await audit.findFaults()) {
    // A row that violates a constraint was reported above, with the reason.
    if (isLeft && what.includes('constraint failed')) continue
    report({ kind: 'damaged-file', threadId: null, what, mend: { kind: 'none' } }, false)
  }
  return counts
}

/** One repair may reveal the next problem: a turn that turns out to be running may turn out to be stuck. */
const mostRounds = 5

/** Returns the problems that are left when nothing more can be repaired. */
async function mend(context: CheckContext, finding: Finding): Promise<readonly Problem[]> {
  const { audit, now } = context
  if (finding.thread === null) {
    for (const { mend: how } of finding.problems) {
      if (how.kind === 'remove-orphans') await audit.removeOrphans(how.key, now())
    }
    return []
  }
  let found: Finding | undefined = finding
  for (let round = 0; round < mostRounds; round++) {
    if (found?.thread == null || found.problems.length === 0) return []
    if (found.problems.every(({ mend: how }) => how.kind === 'none')) break
    await repairThread(context, found.thread, found.problems)
    found = await findAgain(context, found.thread.threadId)
  }
  return found?.problems ?? []
}

async function findAgain(context: CheckContext, threadId: ThreadId): Promise<Finding | undefined> {
  for await (const finding of findProblems(context, threadId)) return finding
  return undefined
}

/** The first turn of each id keeps the id; for every other turn of the id, returns the thread that keeps it. */
function findSecondHomes(homes: readonly TurnHome[]): SharedTurns {
  const keepers = new Map<MessageId, ThreadId>()
  const shared = new Map<ThreadId, Map<MessageId, ThreadId>>()
  for (const { turnId, threadId } of homes) {
    const keeper = keepers.get(turnId)
    if (keeper === undefined) keepers.set(turnId, threadId)
    else if (keeper !== threadId) {
      const inThread = shared.get(threadId) ?? new Map<MessageId, ThreadId>()
      shared.set(threadId, inThread.set(turnId, keeper))
    }
  }
  return shared
}

interface CheckContext extends RepairContext {
  readonly shared: SharedTurns
}

/** Per thread: the turns whose id belongs to a turn of another thread, with that thread. */
type SharedTurns = ReadonlyMap<ThreadId, ReadonlyMap<MessageId, ThreadId>>

/** The problems of one thread; `thread` is null for rows that belong to no thread. */
interface Finding {
  readonly thread: AuditThread | null
  readonly problems: readonly Problem[]
}

/** One pass over all threads, or over one, in one snapshot. */
async function* findProblems(
  { store, audit, now, shared }: CheckContext,
  only?: ThreadId,
  onRows: (rows: number) => void = () => {},
): AsyncGenerator<Finding> {
  let check: ThreadCheck | undefined
  const finish = async (): Promise<Finding | undefined> => {
    if (check === undefined) return undefined
    const { thread } = check
    const problems: Problem[] = []
    for (const problem of check.finish()) {
      if (await isReal(store, thread, problem)) problems.push(problem)
    }
    return { thread, problems }
  }
  for await (const rows of audit.scan(only)) {
    onRows(rows.length)
    for (const row of rows) {
      switch (row.kind) {
        case 'thread': {
          const finding = await finish()
          if (finding !== undefined) yield finding
          check = new ThreadCheck(row, now(), shared.get(row.threadId))
          break
        }
        case 'message':
          check?.addMessage(row)
          break
        case 'event':
          check?.addEvent(row)
          break
        case 'orphan-call':
          check?.addOrphanCall(row.callId)
          break
        case 'orphan-rows': {
          const what = `${row.rows} rows of a thread (${row.key}) that does not exist.`
          const mend = { kind: 'remove-orphans', key: row.key } as const
          yield { thread: null, problems: [{ kind: 'orphan-rows', threadId: null, what, mend }] }
          break
        }
        default:
          assertNever(row)
      }
    }
  }
  const finding = await finish()
  if (finding !== undefined) yield finding
}

/** A file that is gone, or another's, is not used by whoever names it (FL2). */
async function isReal(
  { files }: Store,
  { ownerId }: AuditThread,
  { kind, fileId }: Problem,
): Promise<boolean> {
  if (kind !== 'missing-file-use' || fileId === undefined) return true
  return (await files?.read(fileId))?.ownerId === ownerId
}
