import type { ThreadId } from '../core/ids.ts'
import { createPacer, type Pacer, runPaced } from './pacer.ts'
import { type Append, type IllegalAppend, planInSteps, type PlannedCommit } from './plan-commit.ts'
import type { AppendResult, ChangeNotification, Store } from './store.ts'

/**
 * Writes a group of commits in one transaction. If the database refuses a row (its id is in use), nothing of
 * the group was stored: each commit is then written by itself, so that only the one at fault is refused.
 */
export async function commitGroup(
  commits: readonly PlannedCommit[],
  write: (group: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>,
  isConflict: (error: unknown) => 'message' | 'call' | null,
): Promise<readonly AppendResult[]> {
  if (commits.length === 0) return []
  try {
    return await write(commits)
  } catch (error) {
    const subject = isConflict(error)
    if (subject === null) throw error
    const [only] = commits
    if (commits.length === 1 && only !== undefined) return [toRefusal(only, subject)]
    const results: AppendResult[] = []
    for (const commit of commits) results.push(...(await commitGroup([commit], write, isConflict)))
    return results
  }
}

/** The database does not report which of several ids was in use, so the refusal names the first one. */
export function toRefusal(
  { newMessages, calls }: PlannedCommit,
  subject: 'message' | 'call',
): IllegalAppend {
  const id = subject === 'message' ? newMessages[0]?.id : calls[0]?.callId
  return { kind: 'illegal', subject, id: id ?? '', state: 'exists' }
}

/** More than may be written in one turn of the event loop (OP7): a new row takes up to 15 µs. */
const [manyRows, manyChars] = [1_000, 1_048_576] as const

/** Whether a group of commits has rows that take long to write. */
export const isLong = (commits: readonly PlannedCommit[]): boolean =>
  firstCommits(commits, (commit) => commit, 0).length < commits.length

/** The first of them that do not take long to write together; `least` of them at least. */
export function firstCommits<Item>(
  items: readonly Item[],
  commitOf: (item: Item) => PlannedCommit,
  least = 1,
): readonly Item[] {
  let [rows, chars] = [0, 0]
  const end = items.findIndex((item, nth) => {
    const { calls, newMessages, changedMessages, shownMessages, files, inputs } = commitOf(item)
    // A row that is changed takes twice as long as a new one.
    rows += calls.length + newMessages.length + 2 * (changedMessages.length + shownMessages.length)
    rows += 2 * files.length + inputs.length
    for (const call of calls) chars += lengthOf(call.output, call.modelOutput, call.input)
    for (const { body } of newMessages) chars += lengthOf(body)
    for (const { snapshot } of changedMessages) chars += lengthOf(snapshot?.body)
    return nth >= least && (rows > manyRows || chars > manyChars)
  })
  return end === -1 ? items : items.slice(0, end)
}

const lengthOf = (...texts: readonly (string | null | undefined)[]): number =>
  texts.reduce<number>((sum, text) => sum + (text?.length ?? 0), 0)

/** The newest seq of each thread that a group has changed: what the change notifications contain. */
export function changedThreads(
  commits: readonly PlannedCommit[],
  results: readonly AppendResult[],
): readonly ChangeNotification[] {
  const changed = new Map<ThreadId, ChangeNotification>()
  for (const [index, { append, size }] of commits.entries()) {
    const result = results[index]
    if (result?.kind !== 'appended' || size === 0) continue
    changed.set(append.threadId, { threadId: append.threadId, seq: result.seq })
  }
  return [...changed.values()]
}

/** Commits one append by itself, for writers without a group commit: repairs, imports, tests. */
export async function commitAppend(
  store: Store,
  append: Append,
  pace: Pacer = createPacer(),
): Promise<AppendResult> {
  const planned = await runPaced(planInSteps(append), pace)
  if ('kind' in planned) return planned
  const [result] = await store.commit([planned])
  return result ?? { kind: 'busy' }
}
