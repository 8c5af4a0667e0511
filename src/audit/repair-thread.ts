import { assertNever } from '../core/assert-never.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { firstReady } from '../core/queue.ts'
import type { AuditThread, RepairStep, StoreAudit } from '../store/audit.ts'
import { commitAppend } from '../store/commit-group.ts'
import type { LeaseUse } from '../store/lease.ts'
import type { Store } from '../store/store.ts'
import type { Problem } from './problem.ts'

export interface RepairContext {
  readonly store: Store
  readonly audit: StoreAudit
  readonly now: () => number
}

/**
 * Changes rows first, because an append is planned on what is read from them. The caller checks the thread
 * again to see whether the problem is gone.
 */
export async function repairThread(
  context: RepairContext,
  { threadId, seq: expectedSeq, incarnation }: AuditThread,
  problems: readonly Problem[],
): Promise<void> {
  const steps = problems.flatMap(({ kind, what, mend }): readonly RepairStep[] =>
    mend.kind === 'rows'
      ? mend.changes.map((change) => ({ ...change, problem: kind, note: what }))
      : [],
  )
  const { audit, now } = context
  if (steps.length > 0) {
    const repaired = await audit.repair({ threadId, expectedSeq, incarnation, at: now(), steps })
    if (repaired === 'stale') return
  }
  for (const problem of problems) await append(context, threadId, problem)
}

async function append(context: RepairContext, threadId: ThreadId, problem: Problem): Promise<void> {
  const { kind, mend } = problem
  switch (mend.kind) {
    case 'rows':
    case 'remove-orphans':
    case 'none':
      return
    case 'close-turn':
      if (!(await closeTurn(context, threadId, mend.turnId))) return
      break
    case 'hold-queue':
      if (!(await holdQueue(context, threadId))) return
      break
    case 'release-lease':
      await acquireLease(context, threadId, mend.turnId)
      break
    default:
      assertNever(mend)
  }
  const thread = await context.store.readThread(threadId)
  if (thread === null) return
  const steps = [{ kind: 'record', problem: kind, note: problem.what } as const]
  const at = context.now()
  const { seq: expectedSeq, incarnation } = thread
  await context.audit.repair({ threadId, expectedSeq, incarnation, at, steps })
}

async function closeTurn(
  context: RepairContext,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<boolean> {
  const { store, now } = context
  const found = await store.findTurn(turnId)
  if (found === null || found.threadId !== threadId) return false
  const { turn, queue, seq: expectedSeq, incarnation } = found
  if (turn.progress.status === 'ended') return false
  const at = now()
  // No engine runs here that could answer the waiting inputs: a person releases them (IN5).
  const held = firstReady(queue) === undefined ? [] : [{ type: 'queue-held', at } as const]
  const events = [...planTurnEnd(turn, { kind: 'interrupted' }, at), ...held]
  const end = { threadId, events, expectedSeq, incarnation, turns: [turn], queue }
  const taken = await commitAppend(store, { ...end, lease: toLease(turnId) })
  if (taken.kind === 'appended') return release(store, threadId, taken.fence)
  if (taken.kind !== 'leased' || taken.turnId === turnId) return false
  // Another turn of the thread runs, and is not touched.
  return (await commitAppend(store, end)).kind === 'appended'
}

async function holdQueue({ store, now }: RepairContext, threadId: ThreadId): Promise<boolean> {
  const thread = await store.readThread(threadId)
  if (thread === null || firstReady(thread.queue) === undefined) return false
  const { queue, seq: expectedSeq, incarnation } = thread
  const events = [{ type: 'queue-held', at: now() } as const]
  const append = { threadId, events, expectedSeq, incarnation, queue }
  return (await commitAppend(store, append)).kind === 'appended'
}

async function acquireLease(
  { store }: RepairContext,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<boolean> {
  const taken = await commitAppend(store, { threadId, events: [], lease: toLease(turnId) })
  return taken.kind === 'appended' && release(store, threadId, taken.fence)
}

/** Refused while the lease is held: a run that resumed in the meantime is left alone. */
const toLease = (turnId: MessageId): LeaseUse => ({
  kind: 'acquire',
  holder: 'holdfast check',
  ttlMs: 10_000,
  turnId,
})

async function release(
  store: Store,
  threadId: ThreadId,
  fence: number | undefined,
): Promise<boolean> {
  if (fence === undefined) return false
  const lease = { kind: 'release', fence } as const
  return (await commitAppend(store, { threadId, events: [], lease })).kind === 'appended'
}
