import { type Call, type CallOutcome, isOpenCall } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { callsOf, type Step, type Turn } from '../core/message.ts'
import { shownTextOf } from '../views/carry-on-words.ts'
import type { Toolbox } from './tool-policy.ts'

/** It was broken off after it had shown text, and before it had called a tool. */
const isResumable = (step: Step): boolean =>
  step.status === 'open' &&
  step.parts.every(({ type }) => type !== 'call') &&
  shownTextOf(step).trim() !== ''

/**
 * What a run that takes over a turn says first about what the one before left behind (CR3–CR5).
 * Nothing to say, for a turn that was left in order; and said twice it says nothing new, so recovery
 * may itself be killed and repeated.
 */
export function planRecovery(
  turn: Turn,
  { isRepeatable, isDeferred }: Pick<Toolbox, 'isRepeatable' | 'isDeferred'>,
  at: number,
): readonly NewTurnEvent[] {
  const events: NewTurnEvent[] = []
  const last = turn.steps.at(-1)
  const isCutOff = last?.status === 'open'
  const settle = (callId: Turn['id'] | string, outcome: CallOutcome) =>
    events.push({
      type: 'call-settled',
      turnId: turn.id,
      at,
      callId: callId as never,
      outcome,
    })
  // A provider still owes the result of such a call of a step that ended; of one that broke off it does not.
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
  // With calls: they are run, and the model goes on from there. Text that was shown: the step stays open, and the model is
  // asked to carry on from it (AG8); unless something else has to come first. Otherwise the step is run again.
  const hasCalls = last.parts.some((part) => part.type === 'call')
  if (isResumable(last) && ![...callsOf(turn)].some(isOpenCall)) return events
  events.push(
    hasCalls
      ? { type: 'step-ended', turnId: turn.id, at, finishReason: 'interrupted' }
      : { type: 'step-abandoned', turnId: turn.id, at },
  )
  return events
}
