import { foldTurn } from '../../core/fold-turn.ts'
import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import type { AppendPlan, PlannedCall } from '../plan-append.ts'
import {
  type CallOutputs,
  findRowless,
  type RowlessCall,
  type RowlessCalls,
  toRow,
} from '../run-memory.ts'
import type { AppendResult } from '../store.ts'
import type { PlannedAppend } from './encode-appends.ts'
import type { LedgerRow, LedgerStatements } from './ledger-statements.ts'
import { groupRows, readSealed, readTurnEvents } from './read-rows.ts'
import type { FoundRowless, Ledger } from './run-memories.ts'
import type { RunStatement } from './statement.ts'

/**
 * An append together with the calls that it is about, or that its turn leaves behind, and that have
 * no row yet: the database knows of them only by their facts, which it does not read. What was found
 * holds as long as the thread stands where it stood, so the append wants it to.
 */
export interface CompletedAppend {
  readonly taken: PlannedAppend
  readonly found: FoundRowless | undefined
  /** Refused because the thread moved on, though whoever appends did not mind: look again. */
  isOutdated(result: AppendResult): boolean
  /** A refusal in the words of what was found. */
  judge(result: AppendResult): AppendResult
}

export async function completeAppend(
  run: RunStatement,
  { statements, memories }: Ledger,
  taken: PlannedAppend,
): Promise<CompletedAppend> {
  const { append, plan } = taken
  const turns = turnsToKnow(plan)
  const asItIs: CompletedAppend = {
    taken,
    found: undefined,
    isOutdated: () => false,
    judge: (result) => result,
  }
  if (turns.length === 0) return asItIs
  const memory = memories.recall(append.threadId)
  // The fence as well: a thread that was made anew may stand at the same seq.
  const isRemembered =
    memory?.isWhole === true &&
    append.lease?.kind !== 'acquire' &&
    append.lease?.fence === memory.fence &&
    turns.every((id) => id === memory.turnId) &&
    memory.seq === (append.expectedSeq ?? memory.seq)
  const known = isRemembered
    ? { seq: memory.seq, found: new Map([[memory.turnId, memory.rowless]]) }
    : await readRowless(run, statements, taken, turns)
  if (known === undefined) return asItIs
  const { seq, found } = known
  if (seq !== (append.expectedSeq ?? seq)) return asItIs
  const left = turns.filter((id) => plan.turns.get(id)?.ends && leavesOpen(found.get(id), plan))
  return {
    taken: {
      ...taken,
      append: { ...append, expectedSeq: seq },
      plan: { ...plan, calls: completeCalls(plan, found, seq, left) },
    },
    found,
    isOutdated: ({ kind }) => kind === 'stale' && append.expectedSeq === undefined,
    judge(result) {
      if (result.kind !== 'illegal' || result.subject !== 'call') return result
      const { id, state } = result
      if (left.includes(id as MessageId)) {
        return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
      }
      const rowless = [...found.values()].find((calls) => calls.has(id as CallId))
      return { ...result, state: rowless?.get(id as CallId)?.life ?? state }
    },
  }
}

/** Turns that were there before, and of which calls are told of, or that no longer run after this. */
function turnsToKnow({ turns, calls, messages }: AppendPlan): readonly MessageId[] {
  const told = new Set([...calls.values()].map(({ turnId }) => turnId))
  return [...turns].flatMap(([id, { paths }]) => {
    if (messages.some((message) => message.id === id)) return []
    const after = paths.get('running')
    return told.has(id) || (after !== undefined && after !== 'running') ? [id] : []
  })
}

async function readRowless(
  run: RunStatement,
  statements: LedgerStatements,
  { append: { threadId } }: PlannedAppend,
  turns: readonly MessageId[],
): Promise<{ readonly seq: Seq; readonly found: FoundRowless } | undefined> {
  const found = new Map<MessageId, RowlessCalls>()
  let seq: Seq | undefined
  for (const id of turns) {
    const rows = groupRows(await run<LedgerRow>(statements.findTurn, [-1, id]))
    const [row] = rows.messages
    if (row === undefined || rows.thread?.threadId !== threadId) return undefined
    // Two turns of one thread, and somebody wrote in between: what was found of one may be old.
    seq = Math.min(seq ?? rows.thread.seq, rows.thread.seq)
    const packs = readTurnEvents(rows.eventsOf(id), rows)
    const turn = foldTurn(readSealed(row, rows), packs)
    const isWritten = new Set(rows.callsOf(id).map(({ callId }) => callId))
    const isLive = row.state === 'running'
    found.set(id, isLive ? findRowless(turn, packs, (call) => isWritten.has(call)) : new Map())
  }
  return seq === undefined ? undefined : { seq, found }
}

const leavesOpen = (rowless: RowlessCalls | undefined, { calls }: AppendPlan): boolean =>
  [...(rowless?.keys() ?? [])].some((id) => !calls.has(id))

function completeCalls(
  plan: AppendPlan,
  found: FoundRowless,
  before: Seq,
  left: readonly MessageId[],
): AppendPlan['calls'] {
  const calls = new Map<CallId, PlannedCall>()
  for (const [id, call] of plan.calls) {
    const rowless = found.get(call.turnId)?.get(id)
    const to = rowless && call.paths.get(rowless.life)
    if (rowless === undefined) calls.set(id, call)
    else if (to === undefined) calls.set(id, { ...call, paths: new Map() })
    else {
      const row = toRow(call, to, rowless, before)
      calls.set(id, toPlanned(call.turnId, row, before, call))
    }
  }
  for (const [turnId, rowless] of found) {
    if (plan.turns.get(turnId)?.paths.get('running') !== 'waiting') continue
    for (const [id, row] of rowless) {
      if (!calls.has(id)) calls.set(id, toPlanned(turnId, row, before))
    }
  }
  // It is for the database to refuse, once nothing else speaks against the append: no call has the id of
  // its turn, and none can come from nowhere.
  for (const turnId of left) {
    calls.set(turnId as string as CallId, {
      ...nothing,
      turnId,
      offset: plan.size,
      paths: new Map(),
    })
  }
  return calls
}

/** A row to be written where none is. */
function toPlanned(
  turnId: MessageId,
  { life, name, input, seq }: RowlessCall,
  before: Seq,
  { output, modelOutput }: CallOutputs = nothing,
): PlannedCall {
  const paths = new Map([['absent', life] as const])
  return { turnId, offset: seq - before - 1, paths, name, input, output, modelOutput }
}

const nothing = { name: null, input: null, output: null, modelOutput: null }
