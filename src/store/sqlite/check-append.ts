import { isOpenState } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { AppendPlan } from '../plan-append.ts'
import type { Append, AppendResult } from '../store.ts'
import type { StatusRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'

type Illegal = Extract<AppendResult, { readonly kind: 'illegal' }>

/** Where calls and turns stand once the append is written. */
export interface AppendOutcome {
  readonly kind: 'legal'
  readonly calls: ReadonlyMap<CallId, CallOutcome>
  readonly turns: ReadonlyMap<MessageId, TurnOutcome>
}
export interface CallOutcome {
  /** Undefined: it is new. */
  readonly from: CallLife | undefined
  readonly life: CallLife
}
export interface TurnOutcome {
  readonly seq: Seq
  readonly status: TurnStatus
  readonly found: StatusRow | undefined
}

/** Everything is checked before anything is written, so a refusal leaves no trace. */
export function checkAppend(
  statements: LedgerStatements,
  { thread, seq: before }: { readonly thread: ThreadKey; readonly seq: Seq },
  { events, seal = [] }: Append,
  plan: AppendPlan,
): AppendOutcome | Illegal {
  const message = findBadMessage(statements, thread, events, plan)
  if (message !== undefined) return message

  const rows = new Map<MessageId, StatusRow | undefined>()
  for (const id of plan.turns.keys()) {
    const row = readStatus(statements, thread, id)
    rows.set(id, row?.status === null ? undefined : row)
  }

  const calls = new Map<CallId, CallOutcome>()
  for (const [id, planned] of plan.calls) {
    const found = statements.readLife.get(thread, id)
    const state = found?.life ?? 'absent'
    const isElsewhere = found !== undefined && found.turn !== rows.get(planned.turnId)?.seq
    const life = isElsewhere ? undefined : planned.paths.get(state)
    if (life === undefined) return { kind: 'illegal', subject: 'call', id, state }
    calls.set(id, { from: found?.life, life })
  }

  const turns = new Map<MessageId, TurnOutcome>()
  for (const [id, planned] of plan.turns) {
    const found = rows.get(id)
    const state = found?.status ?? 'absent'
    const status = planned.paths.get(state)
    if (status === undefined) return { kind: 'illegal', subject: 'turn', id, state }
    const offset = plan.messages.findLast((added) => added.id === id)?.offset ?? 0
    const seq = found?.seq ?? before + offset + 1
    if (planned.ends && hasOpenCalls(statements, thread, seq, id, plan, calls)) {
      return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
    }
    turns.set(id, { seq, status, found })
  }

  for (const id of seal) {
    const status = turns.get(id)?.status ?? readStatus(statements, thread, id)?.status
    const state = status ?? 'absent'
    if (state !== 'ended') return { kind: 'illegal', subject: 'turn', id, state }
  }
  return { kind: 'legal', calls, turns }
}

/** Of the message that is shown, or else of the last that had the id: nearly always there is one. */
const readStatus = (
  { readShownStatus, readStatus: readLast }: LedgerStatements,
  thread: ThreadKey,
  id: MessageId,
): StatusRow | undefined => readShownStatus.get(thread, id) ?? readLast.get(thread, id)

/** In the order of the facts: a message is retired to make way for another, often of the same id. */
function findBadMessage(
  statements: LedgerStatements,
  thread: ThreadKey,
  events: readonly NewEvent[],
  { messages, retired }: AppendPlan,
): Illegal | undefined {
  if (messages.length === 0 && retired.length === 0) return undefined
  const known = new Map<MessageId, boolean>()
  const isShown = (id: MessageId) =>
    known.get(id) ?? statements.readShownStatus.get(thread, id) !== undefined
  for (const event of events) {
    if (event.type === 'messages-retired') {
      for (const id of event.messageIds) {
        if (!isShown(id)) return { kind: 'illegal', subject: 'message', id, state: 'absent' }
        known.set(id, false)
      }
    } else if (event.type === 'message-added' || event.type === 'turn-started') {
      const id = event.type === 'message-added' ? event.messageId : event.turnId
      if (isShown(id)) return { kind: 'illegal', subject: 'message', id, state: 'exists' }
      known.set(id, true)
    }
  }
  return undefined
}

function hasOpenCalls(
  statements: LedgerStatements,
  thread: ThreadKey,
  turn: Seq,
  turnId: MessageId,
  plan: AppendPlan,
  calls: AppendOutcome['calls'],
): boolean {
  for (const [id, { life }] of calls) {
    if (plan.calls.get(id)?.turnId !== turnId || life === 'skipped') continue
    if (isOpenState(life)) return true
  }
  return statements.findOpenCalls.all(thread, turn).some(({ callId }) => !calls.has(callId))
}
