import { HoldfastError } from '../core/holdfast-error.ts'
import type { ThreadId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import { type Finding, findProblems } from './find-problems.ts'
import { isSameProblem, type Problem } from './problem.ts'
import { type RepairContext, repairThread } from './repair-thread.ts'

export interface CheckOptions {
  readonly repair?: boolean
  readonly now?: () => number
  /** Each problem, once it is known whether it could be mended. */
  readonly onProblem?: (problem: Problem, isMended: boolean) => void
  readonly onProgress?: (counts: CheckCounts) => void
}
export interface CheckCounts {
  readonly threads: number
  readonly rows: number
}
export interface CheckReport extends CheckCounts {
  readonly found: number
  readonly mended: number
}

/**
 * Recomputes every thread from its facts and names what does not agree (CR6). One pass over one
 * snapshot, so that what others write meanwhile is never taken for damage.
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
  const context: RepairContext = { store, audit, now }
  const counts = { threads: 0, rows: 0, found: 0, mended: 0 }
  const tell = (problem: Problem, isMended: boolean) => {
    counts.found++
    if (isMended) counts.mended++
    onProblem?.(problem, isMended)
  }

  const onRows = (rows: number) => {
    counts.rows += rows
    onProgress?.(counts)
  }
  for await (const finding of findProblems(audit, now(), undefined, onRows)) {
    if (finding.thread !== null) counts.threads++
    if (finding.problems.length === 0) continue
    const left = repair ? await mend(context, finding) : finding.problems
    const isLeft = (problem: Problem) => left.some((other) => isSameProblem(problem, other))
    for (const problem of finding.problems) tell(problem, !isLeft(problem))
    const isNew = (problem: Problem) =>
      !finding.problems.some((other) => isSameProblem(problem, other))
    for (const problem of left.filter(isNew)) tell(problem, false)
  }
  // Last, so that what could be mended is no longer among them.
  const isLeft = counts.found > counts.mended
  for (const what of await audit.findFaults()) {
    // A row that its table would refuse has been named above, by what is wrong with it.
    if (isLeft && what.includes('constraint failed')) continue
    tell({ kind: 'damaged-file', threadId: null, what, mend: { kind: 'none' } }, false)
  }
  return counts
}

/** One repair may lay open the next: a turn that is found to be running is then found to be stuck. */
const mostRounds = 5

/** What is left when nothing more can be mended. */
async function mend(context: RepairContext, finding: Finding): Promise<readonly Problem[]> {
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
    const { threadId, seq } = found.thread
    await repairThread(context, threadId, seq, found.problems)
    found = await findAgain(context, threadId)
  }
  return found?.problems ?? []
}

async function findAgain(
  { audit, now }: RepairContext,
  threadId: ThreadId,
): Promise<Finding | undefined> {
  for await (const finding of findProblems(audit, now(), threadId)) return finding
  return undefined
}
