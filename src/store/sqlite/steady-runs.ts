import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { AppendPlan } from '../plan-append.ts'
import { type CallSteps, type RowlessCalls, type RunMemory, stepCalls } from '../run-memory.ts'
import type { Append, AppendResult } from '../store.ts'
import type { AppendOutcome } from './check-append.ts'
import type { LeaseRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { isConstraint } from './sqlite-error.ts'
import { insertCall, updateCall } from './write-call.ts'

interface KnownRun extends RunMemory {
  readonly thread: ThreadKey
  readonly turn: Seq
  seq: Seq
}

/**
 * The short way for what nearly all appends are while an answer is produced: more facts of the turn that
 * a run of this process works on. What the last append left is remembered and not read again. It is a
 * guess, and every write checks it: the thread still stands where it stood, each row has the life it had.
 */
export interface SteadyRuns {
  /** Undefined: not such an append, or not as remembered. Then nothing was written. */
  append(statements: LedgerStatements, append: Append, plan: AppendPlan): AppendResult | undefined
  /** The calls of a turn that have no row, if that is remembered and the thread stands there. */
  recall(threadId: ThreadId, turnId: MessageId, place: LeaseRow): RowlessCalls | undefined
  /** What an append that went the long way leaves. */
  learn(append: Append, plan: AppendPlan, lease: LeaseRow, seq: Seq, outcome: AppendOutcome): void
  forget(threadId: ThreadId): void
}

/** A call is not as it was remembered: the transaction is to be taken back and done the long way. */
export class UnsteadyError extends Error {
  override readonly name = 'UnsteadyError'
}

export function createSteadyRuns(): SteadyRuns {
  const runs = new Map<ThreadId, KnownRun>()

  return {
    append(statements, append, plan) {
      const run = runs.get(append.threadId)
      if (run === undefined || !isSteady(append, plan, run)) return undefined
      const steps = stepCalls(run, plan)
      if (steps === undefined) return undefined
      const { thread, fence, seq: before, turn } = run
      const seq = before + plan.size
      const found = statements.advanceRun.get(seq, thread, before, fence)
      if (found === undefined) {
        runs.delete(append.threadId)
        return undefined
      }
      for (const { offset, size, at, payload } of plan.packs) {
        statements.insertPack.run(thread, before + offset + size, size, seq, turn, at, payload)
      }
      writeSteps(statements, run, steps)
      steps.remember()
      run.seq = seq
      const stopRequested = found.isStopping === 1
      return { kind: 'appended', firstSeq: before + 1, seq, fence, stopRequested }
    },

    recall(threadId, turnId, { fence, seq }) {
      const run = runs.get(threadId)
      if (run?.isWhole !== true || run.turnId !== turnId) return undefined
      return run.fence === fence && run.seq === seq ? run.rowless : undefined
    },

    learn({ threadId }, plan, { thread, fence, holder, turnId }, seq, outcome) {
      const before = runs.get(threadId)
      runs.delete(threadId)
      if (holder === null || turnId === null) return
      const goesOn = before?.fence === fence && before.seq === seq - plan.size
      const known = goesOn && before.turnId === turnId ? before : undefined
      const turn = outcome.turns.get(turnId)
      // A heartbeat says nothing of the turn.
      if (turn === undefined && known !== undefined && plan.size === 0) runs.set(threadId, known)
      if (turn?.status !== 'running') return
      const lives = known?.lives ?? new Map<CallId, CallLife>()
      const rowless = new Map(outcome.rowless.get(turnId) ?? known?.rowless)
      for (const [id, { life }] of outcome.calls) {
        if (plan.calls.get(id)?.turnId !== turnId) continue
        lives.set(id, life)
        rowless.delete(id)
      }
      const isWhole =
        turn.found === undefined || outcome.rowless.has(turnId) || known?.isWhole === true
      runs.set(threadId, { thread, fence, turnId, turn: turn.seq, lives, rowless, isWhole, seq })
    },

    forget(threadId) {
      runs.delete(threadId)
    },
  }
}

/** Facts of this turn alone, which goes on, under the lease that is held. */
function isSteady({ expectedSeq, lease, seal, create }: Append, plan: AppendPlan, run: KnownRun) {
  const { messages, retired, title, turns, size } = plan
  const isHeld = lease?.kind === 'hold' && lease.fence === run.fence && lease.renewMs === undefined
  const isPlain = messages.length === 0 && retired.length === 0 && title === null
  const isHere = expectedSeq === undefined || expectedSeq === run.seq
  if (!isHeld || !isPlain || !isHere || seal !== undefined || create !== undefined) return false
  const goesOn = turns.get(run.turnId)?.paths.get('running') === 'running'
  return size > 0 && turns.size === 1 && goesOn
}

function writeSteps(statements: LedgerStatements, run: KnownRun, steps: CallSteps): void {
  const { thread, turn } = run
  const isAsRemembered =
    steps.fresh.every((id) => statements.readLife.get(thread, id) === undefined) &&
    steps.writes.every((write) =>
      write.kind === 'insert'
        ? tryInsert(() => insertCall(statements, { thread, turn }, write))
        : updateCall(statements, { thread, turn }, write),
    )
  if (!isAsRemembered) throw new UnsteadyError('A call is not as it was.')
}

/** A call that should be new and is not is refused by its key. */
function tryInsert(insert: () => void): boolean {
  try {
    insert()
    return true
  } catch (error) {
    if (isConstraint(error)) return false
    throw error
  }
}
