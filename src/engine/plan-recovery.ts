import type { CallOutcome } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import { callsOf, type Turn } from '../core/message.ts'

/**
 * What a run that takes over a turn says first about what the one before left behind (CR3–CR5).
 * Nothing to say, for a turn that was left in order; and said twice it says nothing new, so recovery
 * may itself be killed and repeated.
 */
export function planRecovery(
  turn: Turn,
  isRepeatable: (name: string) => boolean,
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
  for (const call of callsOf(turn)) {
    if (call.state === 'streaming' || (call.state === 'ready' && call.providerExecuted === true)) {
      settle(call.id, { state: 'interrupted', cause: 'crashed' })
    }
    if (call.state === 'running' && !isRepeatable(call.name)) {
      settle(call.id, { state: 'unknown', cause: 'crashed' })
    }
  }
  if (!isCutOff) return events
  // Only text so far: the step is run again. With calls: they are run, and the model goes on from there.
  const hasCalls = last.parts.some((part) => part.type === 'call')
  events.push(
    hasCalls
      ? { type: 'step-ended', turnId: turn.id, at, finishReason: 'interrupted' }
      : { type: 'step-abandoned', turnId: turn.id, at },
  )
  return events
}
