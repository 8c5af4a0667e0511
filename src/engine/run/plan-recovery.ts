import { type Call, type CallOutcome, isOpenCall } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallId } from '../../core/ids.ts'
import { callsOf, type Step, type Turn } from '../../core/message.ts'
import { shownTextOf } from '../../views/carry-on-words.ts'
import type { Toolbox } from '../agent/tool-policy.ts'

/** The step was broken off after it had shown text, and before it had called a tool. */
const isResumable = (step: Step): boolean =>
  step.status === 'open' &&
  step.parts.every(({ type }) => type !== 'call') &&
  shownTextOf(step).trim() !== ''

/**
 * The events that a run appends first when it takes over a turn, to close what the previous run left open
 * (CR3–CR5). Empty for a turn that was left in order, and empty when planned again after they were stored, so
 * recovery may itself be killed and repeated.
 */
export function planRecovery(
  turn: Turn,
  { isRepeatable, isDeferred }: Pick<Toolbox, 'isRepeatable' | 'isDeferred'>,
  at: number,
): readonly NewTurnEvent[] {
  const events: NewTurnEvent[] = []
  const last = turn.steps.at(-1)
  const isCutOff = last?.status === 'open'
  const settle = (callId: CallId, outcome: CallOutcome) =>
    events.push({ type: 'call-settled', turnId: turn.id, at, callId, outcome })
  // The provider may still deliver the result of a deferred call of a step that ended, but not of the step that was
  // broken off.
  const isOwed = (call: Call) =>
    call.decision !== undefined ||
    (isDeferred(call.name) && !(isCutOff && call.step === last.index))
  for (const call of callsOf(turn)) {
    const isOpen = call.state === 'ready' || call.state === 'running'
    if (call.providerExecuted === true) {
      if (call.state === 'streaming' || (isOpen && !isOwed(call))) {
        settle(call.id, { state: 'interrupted', cause: 'crashed' })
      }
      continue
    }
    if (call.state === 'streaming') settle(call.id, { state: 'interrupted', cause: 'crashed' })
    if (call.state === 'running' && !isRepeatable(call.name)) {
      settle(call.id, { state: 'unknown', cause: 'crashed' })
    }
  }
  if (!isCutOff) return events
  // With calls, the step ends: the calls are run and the model continues from their results. With shown text, the
  // step stays open and the model is asked to continue it (AG8), unless a call has to settle first. Otherwise the
  // step is abandoned and run again.
  const hasCalls = last.parts.some((part) => part.type === 'call')
  if (isResumable(last) && ![...callsOf(turn)].some(isOpenCall)) return events
  events.push(
    hasCalls
      ? { type: 'step-ended', turnId: turn.id, at, finishReason: 'interrupted' }
      : { type: 'step-abandoned', turnId: turn.id, at },
  )
  return events
}
