import type { AppendPlan } from '../plan-append.ts'
import { isOnItsWay } from '../run-memory.ts'
import type { AppendResult } from '../store.ts'
import { tryRun } from './append-to-turn.ts'
import type { PlannedAppend } from './encode-appends.ts'
import { toPlainText } from './plain-text.ts'
import type { Ledger } from './run-memories.ts'
import type { RunStatement } from './statement.ts'

/**
 * The short way for a question: what begins a turn, and makes the thread if that is new. Undefined: it does
 * more than that, or that way is closed, and `commit_appends` looks into it. No lock by name is needed: this
 * holds no other row while it waits for somebody who is making the same thread.
 */
export async function beginTurn(
  run: RunStatement,
  { statements, memories }: Ledger,
  planned: PlannedAppend,
): Promise<AppendResult | undefined> {
  const { append, plan } = planned
  const { threadId, create, lease, expectedSeq, seal = [] } = append
  if (lease?.kind !== 'acquire' || expectedSeq === undefined) return undefined
  if (seal.length > 0 || !isPlainBeginning(plan)) return undefined
  const { messages, packs, size } = plan
  const values = [
    threadId,
    create?.ownerId,
    plan.activityAt,
    size,
    toPlainText(lease.holder),
    lease.turnId,
    lease.ttlMs,
    messages.map(({ id }) => id),
    messages.map(({ offset }) => offset + 1),
    messages.map(({ role }) => role),
    messages.map(({ id }) => plan.turns.get(id)?.paths.get('absent')),
    messages.map(({ body }) => body),
    messages.map(({ at }) => at),
    packs.map((pack) => pack.offset + pack.size),
    packs.map((pack) => pack.size),
    packs.map(({ turnId }) => turnId),
    packs.map(({ at }) => at),
    packs.map(({ payload }) => payload),
  ]
  const row = await tryRun(() =>
    create !== undefined && expectedSeq === 0
      ? run<BegunRow>(statements.beginThread, [...values, toPlainText(create.title), create.at])
      : run<BegunRow>(statements.beginTurn, [...values, expectedSeq, lease.overFence]),
  )
  if (row === undefined) return undefined
  const { reached: seq, fence } = row
  const firstSeq = expectedSeq + 1
  const result = { kind: 'appended', firstSeq, seq, fence, stopRequested: false } as const
  memories.learn(planned, result, undefined)
  return result
}

interface BegunRow {
  readonly reached: number
  readonly fence: number
}

/** Messages that come and turns that begin, and nothing that depends on what else there is. */
function isPlainBeginning(plan: AppendPlan): boolean {
  const { messages, turns, calls, retired, title, activityAt } = plan
  const isEach = new Set(messages.map(({ id }) => id)).size === messages.length
  const isMore = calls.size > 0 || retired.length > 0 || title !== null
  if (!isEach || isMore || activityAt === null) return false
  return [...turns.values()].every(({ paths, ends }) => paths.has('absent') && !ends)
}

/**
 * The short way for the end of a turn by the run that is known here. Undefined: it does more than that, or
 * not all is as remembered, and `commit_appends` looks into it.
 */
export async function endTurn(
  run: RunStatement,
  { statements, memories }: Ledger,
  { append, plan, seals }: PlannedAppend,
): Promise<AppendResult | undefined> {
  const { threadId, lease, expectedSeq, folded, create } = append
  const memory = memories.recall(threadId)
  if (memory === undefined || folded === undefined || create !== undefined) return undefined
  const { turnId, fence, seq } = memory
  const seal = append.seal?.length === 1 ? seals.get(turnId) : undefined
  if (seal === undefined || seal.isBorn || folded.id !== turnId) return undefined
  if (lease?.kind !== 'release' || lease.fence !== fence || expectedSeq !== seq) return undefined
  const isOpen = memory.rowless.size > 0 || [...memory.lives.values()].some(isOnItsWay)
  if (!memory.isWhole || isOpen || !isPlainEnd(plan)) return undefined
  const row = await tryRun(() =>
    run<{ readonly reached: number }>(statements.endTurn, [
      threadId,
      turnId,
      fence,
      seq,
      plan.size,
      plan.activityAt,
      folded.seq,
      seal.body,
      seq + seal.lastOffset + 1,
    ]),
  )
  if (row === undefined) return undefined
  memories.forget(threadId)
  return { kind: 'appended', firstSeq: seq + 1, seq: row.reached, fence, stopRequested: false }
}

/** Facts of one turn, which was running and has ended. */
function isPlainEnd({ messages, turns, calls, retired, title, activityAt }: AppendPlan): boolean {
  const [turn, ...others] = turns.values()
  const isMore = messages.length + calls.size + retired.length + others.length > 0
  if (turn === undefined || isMore || title !== null || activityAt === null) return false
  return turn.ends && turn.paths.get('running') === 'ended'
}
