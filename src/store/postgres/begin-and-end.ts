import type { AppendPlan } from '../plan-append.ts'
import { isOnItsWay } from '../run-memory.ts'
import type { AppendResult } from '../store.ts'
import { tryRun } from './append-to-turn.ts'
import type { PlannedAppend } from './encode-appends.ts'
import { toPlainText } from './plain-text.ts'
import type { Ledger } from './run-memories.ts'
import type { RunStatement } from './statement.ts'

/**
 * The short way for a question that makes its thread. Undefined: it does more than that, or the thread is
 * there, and `commit_appends` looks into it. No lock by name is needed: this holds no other row while it
 * waits for somebody who is making the same thread.
 */
export async function beginThread(
  run: RunStatement,
  { statements, memories }: Ledger,
  planned: PlannedAppend,
): Promise<AppendResult | undefined> {
  const { append, plan } = planned
  const { threadId, create, lease, expectedSeq = 0, seal = [] } = append
  if (create === undefined || lease?.kind !== 'acquire') return undefined
  if (expectedSeq !== 0 || seal.length > 0 || !isPlainBeginning(plan)) return undefined
  const { messages, packs, size } = plan
  const row = await tryRun(() =>
    run<{ readonly fence: number }>(statements.beginThread, [
      threadId,
      create.ownerId,
      toPlainText(create.title),
      create.at,
      plan.activityAt ?? create.at,
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
    ]),
  )
  if (row === undefined) return undefined
  const { fence } = row
  const result = { kind: 'appended', firstSeq: 1, seq: size, fence, stopRequested: false } as const
  memories.learn(planned, result, undefined)
  return result
}

/** Messages that come and turns that begin, and nothing that depends on what else there is. */
function isPlainBeginning({ messages, turns, calls, retired, title }: AppendPlan): boolean {
  const isEach = new Set(messages.map(({ id }) => id)).size === messages.length
  const isMore = calls.size > 0 || retired.length > 0 || title !== null
  return isEach && !isMore && [...turns.values()].every(isBegun)
}

const isBegun = ({ paths, ends }: { readonly paths: ReadonlyMap<string, string>; ends: boolean }) =>
  paths.has('absent') && !ends

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
