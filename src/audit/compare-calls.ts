import { type Call, isOpenCall } from '../core/call.ts'
import { outcomeAtEnd } from '../core/change-call.ts'
import type { CallId, Seq } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import { type CallLifecycle, isOpenLifecycle, lifecycleOf } from '../core/lifecycle.ts'
import { callsOf, type Turn } from '../core/message.ts'
import type { AuditCall, AuditEvent, AuditMessage, RowChange } from '../store/audit.ts'
import { isInFlight } from '../store/plan-calls.ts'
import { readStoredJson } from '../store/stored-output.ts'
import { toSnapshot } from '../store/turn-snapshot.ts'
import type { Problem, ProblemKind } from './problem.ts'

export interface ExpectedTurn {
  readonly row: AuditMessage
  readonly turn: Turn
  /** The event that gave a call its result, where the event is not in the body. */
  readonly settledBy: ReadonlyMap<CallId, AuditEvent>
}

/** A call and its order among those of its turn, as `planCommit` numbers them. */
interface PlacedCall {
  readonly call: Call
  readonly order: Seq
}

type CallProblem = Omit<Problem, 'threadId' | 'mend'> & { readonly changes: readonly RowChange[] }

/** Compares the calls of a turn according to its events with the rows of the calls. */
export function compareCalls(expected: ExpectedTurn): readonly CallProblem[] {
  const { row, turn } = expected
  const rows = new Map(row.calls.map((call) => [call.callId, call]))
  const closed = new Map<CallId, Call>()
  const problems: CallProblem[] = []
  let order = turn.seq
  for (const call of callsOf(turn)) {
    order++
    const mine = rows.get(call.id)
    rows.delete(call.id)
    problems.push(...compareCall(expected, { call, order }, mine, closed))
  }
  for (const { callId, name } of rows.values()) {
    const what = `A call of "${name}" that has no event in its turn.`
    problems.push(
      toProblem(expected, 'ghost-call', callId, what, [{ kind: 'remove-call', callId }]),
    )
  }
  const [first, ...more] = problems
  if (closed.size === 0 || first === undefined) return problems
  // The body is one row, so it is written once, with every call that is closed here.
  const body = toSnapshot(replaceCalls(turn, closed))
  const changes = [...first.changes, { kind: 'set-message', seq: row.seq, body } as const]
  return [{ ...first, changes }, ...more]
}

function compareCall(
  expected: ExpectedTurn,
  placed: PlacedCall,
  row: AuditCall | undefined,
  closed: Map<CallId, Call>,
): readonly CallProblem[] {
  const { turn } = expected
  const { call } = placed
  const { progress } = turn
  const callId = call.id
  const lifecycle = lifecycleOf(call)
  if (lifecycle === 'succeeded' && (row === undefined || row.output === 'none')) {
    const lost = loseResult(expected, call, closed)
    const what = `The call of "${call.name}" succeeded, but its result is missing.`
    return [
      toProblem(expected, 'missing-result', callId, what, [
        ...lost.changes,
        toCallChange(expected, placed, row, lost.lifecycle),
      ]),
    ]
  }
  if (progress.status === 'ended' && isOpenCall(call)) {
    const outcome = outcomeAtEnd(progress.ending, call)
    const { endedAt } = progress
    closed.set(callId, { ...call, ...outcome, endedAt })
    const what = `The turn has ended, but its call of "${call.name}" is still ${call.state}.`
    return [
      toProblem(expected, 'open-call', callId, what, [
        toCallChange(expected, placed, row, outcome.state),
      ]),
    ]
  }
  if (isFalselyUnknown(turn, call) && expected.settledBy.get(callId) === undefined) {
    closed.set(callId, { ...call, state: 'interrupted', cause: 'no-result' } as Call)
    const what = `The call of "${call.name}" is marked as unknown because the server stopped, but its turn was completed.`
    return [
      toProblem(expected, 'false-unknown', callId, what, [
        toCallChange(expected, placed, row, 'interrupted'),
      ]),
    ]
  }
  // While its turn runs, a call that is in flight has no row, or one from before.
  const mayLag = progress.status === 'running' && isInFlight(lifecycle)
  if (mayLag && (row === undefined || row.output === 'none')) return []
  if (row === undefined) {
    const what = `The call of "${call.name}" has no row.`
    return [
      toProblem(expected, 'missing-call', callId, what, [
        toCallChange(expected, placed, row, lifecycle),
      ]),
    ]
  }
  return compareRow(expected, row, lifecycle)
}

/**
 * A call that a loop of the host's own left open when it completed, as version 0.1 stored it: nothing
 * crashed, and no person can find out what became of a call that was never run.
 */
const isFalselyUnknown = ({ recorded, progress }: Turn, call: Call): boolean =>
  recorded === true &&
  progress.status === 'ended' &&
  progress.ending.kind === 'completed' &&
  call.state === 'unknown' &&
  call.resolution === undefined

function compareRow(
  expected: ExpectedTurn,
  row: AuditCall,
  lifecycle: CallLifecycle,
): readonly CallProblem[] {
  const { callId, name } = row
  const change = { kind: 'set-call', callId, lifecycle } as const
  if (lifecycle !== 'succeeded' && row.output !== 'none') {
    const what = `The call of "${name}" is ${lifecycle}, but has a result.`
    return [toProblem(expected, 'double-result', callId, what, [{ ...change, dropsOutput: true }])]
  }
  if (lifecycle !== row.lifecycle) {
    const isOver = expected.turn.progress.status === 'ended'
    const kind = isOver && isOpenLifecycle(row.lifecycle) ? 'open-call' : 'life-differs'
    const what = `The row of the call of "${name}" has the state ${row.lifecycle}, its events result in ${lifecycle}.`
    return [toProblem(expected, kind, callId, what, [change])]
  }
  const quotes = (['input', 'output', 'modelOutput'] as const).filter(
    (column) => row[column] === 'broken',
  )
  if (quotes.length === 0) return []
  const what = `The call of "${name}" has invalid JSON: ${quotes.join(' and ')}.`
  return [
    toProblem(expected, 'unreadable-json', callId, what, [{ kind: 'set-call', callId, quotes }]),
  ]
}

/** A lost result cannot be restored; the repair is that the call no longer claims to have one. */
function loseResult(
  { settledBy }: ExpectedTurn,
  call: Call,
  closed: Map<CallId, Call>,
): { readonly lifecycle: CallLifecycle; readonly changes: readonly RowChange[] } {
  const event = settledBy.get(call.id)
  if (event === undefined) {
    const { output, modelOutput, ...rest } = call as Extract<Call, { state: 'succeeded' }>
    closed.set(call.id, { ...rest, state: 'interrupted', cause: 'crashed' })
    return { lifecycle: 'interrupted', changes: [] }
  }
  const payload = readStoredJson(event.payload)
  const stored = isJsonObject(payload) ? payload : {}
  const resolution = isJsonObject(stored.resolution) ? stored.resolution : undefined
  const truth =
    resolution === undefined
      ? { ...stored, outcome: { state: 'interrupted', cause: 'crashed' } }
      : { ...stored, resolution: { ...resolution, kind: 'skip' } }
  const { seq, turn, at } = event
  return {
    lifecycle: resolution === undefined ? 'interrupted' : 'skipped',
    changes: [{ kind: 'set-event', seq, turn, at, payload: JSON.stringify(truth) }],
  }
}

function toCallChange(
  { row: { messageId: turnId, seq } }: ExpectedTurn,
  { call, order }: PlacedCall,
  row: AuditCall | undefined,
  lifecycle: CallLifecycle,
): RowChange {
  const { id: callId, name } = call
  if (row !== undefined) return { kind: 'set-call', callId, lifecycle, dropsOutput: true }
  const input = call.input.kind === 'complete' ? JSON.stringify(call.input.value) : null
  return { kind: 'add-call', callId, turn: { turnId, seq }, seq: order, name, lifecycle, input }
}

function toProblem(
  { row }: ExpectedTurn,
  kind: ProblemKind,
  callId: CallId,
  what: string,
  changes: readonly RowChange[],
): CallProblem {
  return { kind, messageId: row.messageId, callId, what, changes }
}

function replaceCalls(turn: Turn, closed: ReadonlyMap<CallId, Call>): Turn {
  const steps = turn.steps.map((step) => ({
    ...step,
    parts: step.parts.map((part) => (part.type === 'call' ? (closed.get(part.id) ?? part) : part)),
  }))
  return { ...turn, steps }
}
