import type { NewEvent } from '../../core/event.ts'
import type { MessageId, Seq } from '../../core/ids.ts'
import type { AppendPlan } from '../plan-append.ts'
import { type PlannedSeal, planSeals } from '../plan-seals.ts'
import { toRow } from '../run-memory.ts'
import type { Append, AppendResult } from '../store.ts'
import { type AppendOutcome, checkAppend } from './check-append.ts'
import { type AppendContext, checkLease } from './check-lease.ts'
import { findPlace } from './create-thread.ts'
import type { ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { sealTurn } from './seal-turn.ts'
import { insertCall, updateCall } from './write-call.ts'
import { writeThread } from './write-thread.ts'

/** One append inside the transaction of its group. */
export function appendToLedger(
  statements: LedgerStatements,
  append: Append,
  plan: AppendPlan,
  context: AppendContext,
): AppendResult {
  const { expectedSeq, lease: use, seal = [] } = append
  const place = findPlace(statements, append)
  if (place === undefined) return { kind: 'no-thread' }
  const before = place.seq
  if (expectedSeq !== undefined && expectedSeq !== before) return { kind: 'stale', seq: before }
  const refusal = checkLease(place, use, context)
  if (refusal !== undefined) return refusal
  const recall = (turnId: MessageId) => context.runs.recall(append.threadId, turnId, place)
  const outcome = checkAppend(statements, place, append, plan, recall)
  if (outcome.kind === 'illegal') return outcome

  const row = writeThread(statements, place, append, plan, context)
  const { thread } = row
  const seq = before + plan.size
  const seals = planSeals(append)
  if (plan.size > 0) {
    const facts = { thread, before, commit: seq, events: append.events, plan, outcome, seals }
    if (plan.messages.length + plan.retired.length > 0) writeMessages(statements, facts)
    writeStatuses(statements, facts)
    writePacks(statements, facts)
    writeCalls(statements, facts)
    writeSeals(statements, facts)
  }
  for (const id of seal) if (!seals.has(id)) sealTurn(statements, thread, id)
  context.runs.learn(append, plan, row, seq, outcome)
  return {
    kind: 'appended',
    firstSeq: before + 1,
    seq,
    ...(use === undefined ? {} : { fence: row.fence }),
    stopRequested: row.holder !== null && row.stopFence === row.fence,
  }
}

interface Facts {
  readonly thread: ThreadKey
  readonly before: Seq
  readonly commit: Seq
  readonly events: readonly NewEvent[]
  readonly plan: AppendPlan
  readonly outcome: AppendOutcome
  readonly seals: ReadonlyMap<MessageId, PlannedSeal>
}

/** In the order of the facts: see `checkAppend`. */
function writeMessages(statements: LedgerStatements, facts: Facts): void {
  const { thread, before, commit, events, plan, outcome } = facts
  const added = new Map(plan.messages.map((message) => [message.offset, message]))
  for (const [offset, event] of events.entries()) {
    const seq = before + offset + 1
    if (event.type === 'messages-retired' && event.from === undefined) {
      for (const id of event.messageIds) statements.retireMessage.run(seq, thread, id)
    }
    const message = added.get(offset)
    if (message === undefined) continue
    const { id, role, at, body } = message
    const status = role === 'assistant' ? (outcome.turns.get(id)?.status ?? null) : null
    const isSealed = body === null ? 0 : 1
    const bodySeq = body === null ? null : seq
    const how = [role, status, isSealed, bodySeq, commit, at, body] as const
    statements.insertMessage.run(thread, seq, id, ...how)
  }
}

function writeStatuses(statements: LedgerStatements, { thread, outcome, seals }: Facts): void {
  for (const [id, { seq, status, found }] of outcome.turns) {
    // A sealed turn that has facts again is no longer all in its body, whatever its status.
    const isChanged = found !== undefined && (found.status !== status || found.isSealed === 1)
    if (isChanged && !seals.has(id)) {
      statements.setStatus.run(status, thread, seq)
    }
  }
}

function writePacks(statements: LedgerStatements, facts: Facts): void {
  const { thread, before, commit, plan, outcome, seals } = facts
  for (const { offset, size, turnId, at, payload } of plan.packs) {
    if (turnId !== null && seals.has(turnId)) continue
    const turn = turnId === null ? null : (outcome.turns.get(turnId)?.seq ?? null)
    statements.insertPack.run(thread, before + offset + size, size, commit, turn, at, payload)
  }
}

function writeCalls(statements: LedgerStatements, facts: Facts): void {
  const { thread, before, plan, outcome } = facts
  for (const [id, { from, rowless, life: to }] of outcome.calls) {
    const call = plan.calls.get(id)
    const turn = call && outcome.turns.get(call.turnId)?.seq
    if (call === undefined || turn === undefined) continue
    if (from !== undefined) updateCall(statements, { thread, turn }, { id, call, from, to })
    else {
      const row = toRow(call, to, rowless, before)
      insertCall(statements, { thread, turn }, { id, row, call })
    }
  }
  // A turn that waits has rows for all its calls: others look for them now.
  for (const [turnId, calls] of outcome.rowless) {
    const turn = outcome.turns.get(turnId)
    if (turn === undefined || turn.status === 'running') continue
    for (const [id, row] of calls) {
      if (outcome.calls.has(id)) continue
      const call = { output: null, modelOutput: null }
      insertCall(statements, { thread, turn: turn.seq }, { id, row, call })
    }
  }
}

/** Turns whose state is known already; `sealTurn` has nothing left to do there. */
function writeSeals(statements: LedgerStatements, facts: Facts): void {
  const { thread, before, commit, outcome, seals } = facts
  for (const [id, { body, lastOffset, isBorn }] of seals) {
    const turn = outcome.turns.get(id)?.seq
    if (turn === undefined) continue
    const last = before + lastOffset + 1
    statements.sealTurn.run(body, last, commit, thread, turn)
    if (!isBorn) statements.deleteTurnPacks.run({ thread, turn, last })
  }
}
