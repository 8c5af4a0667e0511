import { isTurnEvent, type NewEvent } from '../../core/event.ts'
import type { MessageId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import { commitAppend } from '../../store/commit-group.ts'
import {
  type Append,
  type IllegalAppend,
  planCommit,
  type PlannedCommit,
} from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import { withoutMarks } from './without-marks.ts'

/**
 * Appends like a writer that reads first: the thread's seq, and the turns that the events belong to. Without
 * an `expectedSeq` in the append it tries again when another writer was faster.
 */
export async function appendEvents(store: Store, append: Append): Promise<AppendResult> {
  for (;;) {
    const result = await commitAppend(store, await prepareAppend(store, append))
    const isBeaten = result.kind === 'stale' && append.expectedSeq === undefined
    if (!isBeaten && result.kind !== 'busy') return withoutMarks(result)
  }
}

/** The append with its preconditions, read from the store where the append lacks them. */
async function prepareAppend(store: Store, append: Append): Promise<Append> {
  const { threadId, events } = append
  if (events.length === 0) return append
  const thread = await store.readThread(threadId)
  const turns: Turn[] = [...(append.turns ?? [])]
  for (const id of turnsIn(events)) {
    if (turns.some((turn) => turn.id === id)) continue
    const message = await store.readMessage(threadId, id)
    if (message?.role === 'assistant') turns.push(message)
  }
  return { expectedSeq: thread?.seq ?? 0, queue: thread?.queue ?? [], ...append, turns }
}

/** Plans a group, each append on what the store has now; appends that are not allowed are left out. */
export async function planAll(
  store: Store,
  appends: readonly Append[],
): Promise<readonly (PlannedCommit | IllegalAppend)[]> {
  const planned: (PlannedCommit | IllegalAppend)[] = []
  for (const append of appends) planned.push(planCommit(await prepareAppend(store, append)))
  return planned
}

/** Commits what `planAll` has planned, in one group; one result for each append. */
export async function commitTogether(
  store: Store,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const planned = await planAll(store, appends)
  const legal = planned.filter((commit): commit is PlannedCommit => !('kind' in commit))
  const results = (await store.commit(legal)).map(withoutMarks)
  return planned.map((commit) =>
    'kind' in commit ? commit : (results.shift() ?? ({ kind: 'busy' } as const)),
  )
}

const turnsIn = (events: readonly NewEvent[]): ReadonlySet<MessageId> =>
  new Set(events.flatMap((event) => (isTurnEvent(event) ? [event.turnId] : [])))
