import { isOpenState } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { CallId, MessageId, Seq } from '../../core/ids.ts'
import type { CallLife } from '../../core/life.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { AppendPlan, PlannedCall } from '../plan-append.ts'
import type { RowlessCall, RowlessCalls } from '../run-memory.ts'
import type { Append, AppendResult } from '../store.ts'
import { isUnborn } from './create-thread.ts'
import type { LeaseRow, StatusRow, ThreadKey } from './ledger-row.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { readRowless } from './read-turn.ts'

type Illegal = Extract<AppendResult, { readonly kind: 'illegal' }>

/** Where calls and turns stand once the append is written. */
export interface AppendOutcome {
  readonly kind: 'legal'
  readonly calls: ReadonlyMap<CallId, CallOutcome>
  readonly turns: ReadonlyMap<MessageId, TurnOutcome>
  /** Of turns for which it had to be known: their calls that had no row before. */
  readonly rowless: ReadonlyMap<MessageId, RowlessCalls>
}
export interface CallOutcome {
  /** Undefined: it has no row. */
  readonly from: CallLife | undefined
  /** Undefined: it has one, or is new. */
  readonly rowless: RowlessCall | undefined
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
  place: LeaseRow,
  { events, seal = [] }: Append,
  plan: AppendPlan,
  /** The calls of a turn that have no row, if that is remembered. */
  recall: (turnId: MessageId) => RowlessCalls | undefined,
): AppendOutcome | Illegal {
  const { thread, seq: before } = place
  const statuses = new Map<MessageId, StatusRow | undefined>()
  const statusOf = (id: MessageId): StatusRow | undefined => {
    // Nothing stands in a thread that is not there yet.
    if (isUnborn(place)) return undefined
    if (!statuses.has(id)) statuses.set(id, readStatus(statements, thread, id))
    return statuses.get(id)
  }
  const message = findBadMessage(events, plan, (id) => statusOf(id)?.isShown === 1)
  if (message !== undefined) return message

  const rows = new Map<MessageId, StatusRow | undefined>()
  for (const id of plan.turns.keys()) {
    const row = statusOf(id)
    rows.set(id, row?.status === null ? undefined : row)
  }

  const rowless = new Map<MessageId, RowlessCalls>()
  const rowlessOf = (turnId: MessageId): RowlessCalls => {
    const known = rowless.get(turnId)
    if (known !== undefined) return known
    const row = rows.get(turnId)
    const found: RowlessCalls =
      row?.status === 'running'
        ? (recall(turnId) ?? readRowless(statements, thread, row.seq))
        : new Map()
    rowless.set(turnId, found)
    return found
  }
  // A loop of the host's own has no lease, and adds call after call: a new one is not looked for.
  const mayBeRowless = ({ turnId, paths }: PlannedCall) =>
    place.turnId === turnId || !paths.has('absent')

  const calls = new Map<CallId, CallOutcome>()
  for (const [id, planned] of plan.calls) {
    const found = statements.readLife.get(thread, id)
    const isUnwritten = found === undefined && mayBeRowless(planned)
    const unwritten = isUnwritten ? rowlessOf(planned.turnId).get(id) : undefined
    const state = found?.life ?? unwritten?.life ?? 'absent'
    const isElsewhere = found !== undefined && found.turn !== rows.get(planned.turnId)?.seq
    const life = isElsewhere ? undefined : planned.paths.get(state)
    if (life === undefined) return { kind: 'illegal', subject: 'call', id, state }
    calls.set(id, { from: found?.life, rowless: unwritten, life })
  }

  const turns = new Map<MessageId, TurnOutcome>()
  for (const [id, planned] of plan.turns) {
    const found = rows.get(id)
    const state = found?.status ?? 'absent'
    const status = planned.paths.get(state)
    if (status === undefined) return { kind: 'illegal', subject: 'turn', id, state }
    const offset = plan.messages.findLast((added) => added.id === id)?.offset ?? 0
    const seq = found?.seq ?? before + offset + 1
    const unwritten = status === 'running' ? undefined : rowlessOf(id)
    if (planned.ends && hasOpenCalls(statements, { thread, seq, id }, plan, calls, unwritten)) {
      return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
    }
    turns.set(id, { seq, status, found })
  }

  for (const id of seal) {
    const status = turns.get(id)?.status ?? statusOf(id)?.status
    const state = status ?? 'absent'
    if (state !== 'ended') return { kind: 'illegal', subject: 'turn', id, state }
  }
  return { kind: 'legal', calls, turns, rowless }
}

/** Of the message that is shown, or else of the last that had the id: nearly always there is one. */
const readStatus = (
  { readShownStatus, readStatus: readLast }: LedgerStatements,
  thread: ThreadKey,
  id: MessageId,
): StatusRow | undefined => readShownStatus.get(thread, id) ?? readLast.get(thread, id)

/** In the order of the facts: a message is retired to make way for another, often of the same id. */
function findBadMessage(
  events: readonly NewEvent[],
  { messages, retired }: AppendPlan,
  wasShown: (id: MessageId) => boolean,
): Illegal | undefined {
  if (messages.length === 0 && retired.length === 0) return undefined
  const known = new Map<MessageId, boolean>()
  const isShown = (id: MessageId) => known.get(id) ?? wasShown(id)
  for (const event of events) {
    if (event.type === 'messages-retired') {
      if (event.from !== undefined) continue
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
  turn: { readonly thread: ThreadKey; readonly seq: Seq; readonly id: MessageId },
  plan: AppendPlan,
  calls: AppendOutcome['calls'],
  rowless: RowlessCalls | undefined,
): boolean {
  for (const [id, { life }] of calls) {
    if (plan.calls.get(id)?.turnId !== turn.id || life === 'skipped') continue
    if (isOpenState(life)) return true
  }
  for (const id of rowless?.keys() ?? []) if (!calls.has(id)) return true
  return statements.findOpenCalls
    .all(turn.thread, turn.seq)
    .some(({ callId }) => !calls.has(callId))
}
