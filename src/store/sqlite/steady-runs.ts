import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { AppendPlan } from '../plan-append.ts'
import type { Append, AppendResult } from '../store.ts'
import type { AppendOutcome } from './check-append.ts'
import type { LeaseRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { isConstraint } from './sqlite-error.ts'
import { type CallMove, writeCall } from './write-call.ts'

/** What a run of this process left behind with its last append. */
interface KnownRun {
  readonly thread: ThreadKey
  readonly fence: number
  readonly turnId: MessageId
  readonly turn: Seq
  readonly lives: Map<CallId, CallLife>
  seq: Seq
}

/**
 * The short way for what nearly all appends are while an answer is produced: more facts of the turn that
 * a run of this process works on. What the last append left is remembered and not read again. It is a
 * guess, and every write checks it: the thread still stands where it stood, each call has the life it had.
 */
export interface SteadyRuns {
  /** Undefined: not such an append, or not as remembered. Then nothing was written. */
  append(statements: LedgerStatements, append: Append, plan: AppendPlan): AppendResult | undefined
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
      const moves = planMoves(plan, run)
      if (moves === undefined) return undefined
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
      for (const move of moves) writeMove(statements, run, move)
      run.seq = seq
      const stopRequested = found.isStopping === 1
      return { kind: 'appended', firstSeq: before + 1, seq, fence, stopRequested }
    },

    learn({ threadId }, plan, { thread, fence, holder, turnId }, seq, { turns, calls }) {
      const turn = turnId === null ? undefined : turns.get(turnId)
      const before = runs.get(threadId)
      runs.delete(threadId)
      if (holder === null || turnId === null || turn?.status !== 'running') return
      const lives = before?.fence === fence ? before.lives : new Map<CallId, CallLife>()
      for (const [id, { life }] of calls) {
        if (plan.calls.get(id)?.turnId === turnId) lives.set(id, life)
      }
      runs.set(threadId, { thread, fence, turnId, turn: turn.seq, lives, seq })
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

function planMoves({ calls }: AppendPlan, { lives }: KnownRun): readonly CallMove[] | undefined {
  const moves: CallMove[] = []
  for (const [id, call] of calls) {
    const from = lives.get(id)
    const to = call.paths.get(from ?? 'absent')
    if (to === undefined) return undefined
    moves.push({ id, call, from, to })
  }
  return moves
}

function writeMove(statements: LedgerStatements, run: KnownRun, move: CallMove): void {
  const { thread, turn, lives, seq: before } = run
  if (!tryWrite(() => writeCall(statements, { thread, turn, before }, move))) {
    throw new UnsteadyError('The call is not as it was.')
  }
  lives.set(move.id, move.to)
}

/** A call that should be new and is not is refused by its key. */
function tryWrite(write: () => boolean): boolean {
  try {
    return write()
  } catch (error) {
    if (isConstraint(error)) return false
    throw error
  }
}
