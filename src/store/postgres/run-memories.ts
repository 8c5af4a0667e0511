import type { CallId, MessageId, ThreadId } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import { findOneEnd } from '../paths.ts'
import type { PlannedCall, PlannedTurn } from '../plan-append.ts'
import type { RowlessCalls, RunMemory } from '../run-memory.ts'
import type { AppendResult } from '../store.ts'
import type { PlannedAppend } from './encode-appends.ts'
import type { LedgerStatements } from './ledger-statements.ts'

/** What a commit works with. */
export interface Ledger {
  readonly statements: LedgerStatements
  readonly memories: RunMemories
}

/** What the runs of this process left with their last appends. A statement that relies on it says so. */
export interface RunMemories {
  recall(threadId: ThreadId): RunMemory | undefined
  remember(threadId: ThreadId, memory: RunMemory): void
  /** What an append leaves that did not rely on it; with what had to be found out for it. */
  learn(taken: PlannedAppend, result: AppendResult, found: FoundRowless | undefined): void
  forget(threadId: ThreadId): void
}

export type FoundRowless = ReadonlyMap<MessageId, RowlessCalls>

export function createRunMemories(): RunMemories {
  const runs = new Map<ThreadId, RunMemory>()

  return {
    recall: (threadId) => runs.get(threadId),
    remember: (threadId, memory) => runs.set(threadId, memory),
    forget: (threadId) => runs.delete(threadId),

    learn({ append: { threadId, lease }, plan }, result, found) {
      const last = runs.get(threadId)
      runs.delete(threadId)
      if (result.kind !== 'appended' || result.fence === undefined) return
      if (lease === undefined || lease.kind === 'release') return
      const { fence, seq } = result
      const goesOn = last?.fence === fence && last.seq === result.firstSeq - 1
      const known = lease.kind === 'hold' && goesOn ? last : undefined
      const turnId = lease.kind === 'acquire' ? lease.turnId : known?.turnId
      if (turnId === undefined) return
      const isBorn = plan.messages.some(({ id }) => id === turnId)
      if (!isRunning(plan.turns.get(turnId), isBorn)) return
      // Text, most often: what is remembered of calls stays.
      if (known !== undefined && plan.calls.size === 0 && found === undefined) {
        runs.set(threadId, { ...known, seq })
        return
      }

      const rowless = new Map(found?.get(turnId) ?? known?.rowless)
      const lives = new Map(known?.lives)
      for (const [id, call] of plan.calls) {
        if (call.turnId !== turnId) continue
        const life = lifeAfter(id, call, lives, rowless)
        rowless.delete(id)
        if (life === undefined) lives.delete(id)
        else lives.set(id, life)
      }
      const isWhole = isBorn || found?.has(turnId) === true || known?.isWhole === true
      runs.set(threadId, { turnId, fence, seq, lives, rowless, isWhole })
    },
  }
}

/** Whether a turn that a run holds goes on after this, wherever it stood. */
function isRunning(turn: PlannedTurn | undefined, isBorn: boolean): boolean {
  if (turn === undefined) return true
  if (isBorn) return turn.paths.get('absent') === 'running'
  const after = turn.paths.get('running')
  return after === undefined
    ? [...turn.paths.values()].every((status) => status === 'running')
    : after === 'running'
}

/** Undefined: it depends on the row, which was not read. */
function lifeAfter(
  id: CallId,
  { paths }: PlannedCall,
  lives: ReadonlyMap<CallId, CallLife>,
  rowless: RowlessCalls,
): CallLife | undefined {
  const before = rowless.get(id)?.life ?? lives.get(id)
  return before === undefined ? findOneEnd(paths) : paths.get(before)
}
