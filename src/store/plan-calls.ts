import type { Call, CallOutput } from '../core/call.ts'
import { isTurnEvent, type NewEvent } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { type CallLifecycle, isCallEvent, lifecycleOf } from '../core/lifecycle.ts'
import { callPositionsIn, findCall, type Turn } from '../core/message.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { statusOf } from './plan-messages.ts'

/** A row of `calls` after this commit, inserted or updated. */
export interface PlannedCallRow {
  readonly callId: CallId
  readonly turnId: MessageId
  readonly turnSeq: Seq
  /** Its order among the calls of its turn. */
  readonly seq: Seq
  readonly name: string
  readonly lifecycle: CallLifecycle
  readonly input: string | null
  readonly output: string | null
  readonly modelOutput: string | null
  /** It is in no commit before: it has no row. False: it may have one. */
  readonly isNew: boolean
}

/**
 * A call has a current row whenever it waits for a person, has ended, or its turn does not run: whenever a
 * reader other than its run may look it up. Between its recording and its result it exists in the events of
 * its turn only; a row that it has from before (a retry, an approval) is updated with its end. So most calls
 * are written once, with their result.
 */
const needsRow = (turn: Turn, call: Call): boolean =>
  turn.progress.status !== 'running' || !isInFlight(lifecycleOf(call))

/** Between its first event and its result. */
export const isInFlight = (lifecycle: CallLifecycle): boolean =>
  lifecycle === 'streaming' || lifecycle === 'ready' || lifecycle === 'running'

/** The rows of calls that a commit inserts or updates. */
export function* planCalls(
  known: ReadonlyMap<MessageId, Turn>,
  turns: ReadonlyMap<MessageId, Turn>,
  events: readonly NewEvent[],
): PausableWork<readonly PlannedCallRow[]> {
  const named = new Set<MessageId>()
  for (const event of events) {
    if (isTurnEvent(event) && isCallEvent(event)) named.add(event.turnId)
  }
  const rows: PlannedCallRow[] = []
  for (const [id, turn] of turns) {
    const before = known.get(id)
    // Most commits add text only: their calls need no change and are not compared.
    if (!named.has(id) && statusOf(before) === statusOf(turn)) continue
    const isSameStatus = statusOf(before) === statusOf(turn)
    let order = turn.seq
    for (const [index, step] of turn.steps.entries()) {
      // The fold shares what it did not change, so a different object is a changed step, or a changed call.
      if (isSameStatus && step === before?.steps[index]) {
        order += callPositionsIn(step).size
        continue
      }
      for (const call of step.parts) {
        if (call.type !== 'call') continue
        order++
        const old = before === undefined ? undefined : findCall(before, call.id)
        const had = before !== undefined && old !== undefined && needsRow(before, old)
        const needs = needsRow(turn, call)
        if ((old !== call && (needs || had)) || (needs && !had)) {
          rows.push(toRow(turn, call, order, old === undefined))
          yield
        }
      }
    }
  }
  return rows
}

/** The rows of the calls of a copied turn, as `planCalls` makes them; each is made when it is taken. */
export function* planCopiedCalls(
  {
    turnId: id,
    turn,
  }: Pick<Extract<NewEvent, { readonly type: 'turn-copied' }>, 'turnId' | 'turn'>,
  seq: Seq,
): Generator<{ readonly call: Call; readonly row: PlannedCallRow }> {
  let order = seq
  for (const { parts } of turn.steps) {
    for (const call of parts) {
      if (call.type === 'call') yield { call, row: toRow({ id, seq }, call, ++order, true) }
    }
  }
}

function toRow(
  turn: Pick<Turn, 'id' | 'seq'>,
  call: Call,
  seq: Seq,
  isNew: boolean,
): PlannedCallRow {
  const isDone = call.state === 'succeeded'
  return {
    callId: call.id,
    turnId: turn.id,
    turnSeq: turn.seq,
    seq,
    name: call.name,
    lifecycle: lifecycleOf(call),
    input: call.input.kind === 'complete' ? JSON.stringify(call.input.value) : null,
    output: isDone ? outputText(call.output) : null,
    modelOutput: isDone && call.modelOutput !== undefined ? JSON.stringify(call.modelOutput) : null,
    isNew,
  }
}

function outputText(output: CallOutput): string {
  if (output.kind === 'omitted') {
    throw new HoldfastError('bad-event', 'A lazily read result cannot be stored again.')
  }
  return JSON.stringify(output.value)
}
