import { type Call, type CallOutcome, isOpenCall } from './call.ts'
import type { NewTurnEvent } from './event.ts'
import { outcomeAtEnd } from './change-call.ts'
import { callsOf, type Turn, type TurnEnding } from './message.ts'
import type { FinishReason } from './usage.ts'

/**
 * The events that end a turn. Each open call gets its own event, so that its row, its record and its audit
 * show its outcome. Stores refuse a `turn-ended` that would leave a call open.
 */
export function planTurnEnd(
  turn: Turn,
  ending: TurnEnding,
  at: number,
  outcomeOf: (call: Call) => CallOutcome = (call) => outcomeAtEnd(ending, call),
): readonly NewTurnEvent[] {
  const events: NewTurnEvent[] = []
  for (const call of callsOf(turn)) {
    if (!isOpenCall(call)) continue
    const outcome = outcomeOf(call)
    events.push({ type: 'call-settled', turnId: turn.id, at, callId: call.id, outcome })
  }
  if (turn.steps.at(-1)?.status === 'open') {
    events.push({ type: 'step-ended', turnId: turn.id, at, finishReason: finishReasonOf(ending) })
  }
  events.push({ type: 'turn-ended', turnId: turn.id, at, ending })
  return events
}

function finishReasonOf(ending: TurnEnding): FinishReason {
  if (ending.kind === 'failed') return 'error'
  return ending.kind === 'stopped' ? 'stopped' : 'interrupted'
}
