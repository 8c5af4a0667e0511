import type { TurnEventBody } from '../../src/core/event.ts'
import type { CallOutcome, CallOrigin } from '../../src/core/call.ts'
import { parseCallId } from '../../src/core/ids.ts'
import type { FinishReason } from '../../src/core/usage.ts'

type Events = readonly TurnEventBody[]

/** How far a call has come. */
export type CallStage =
  | 'streaming'
  | 'waiting'
  | 'ready'
  | 'accepted'
  | 'running'
  | 'succeeded'
  | 'unknown'
  | 'skipped'

const decision = { kind: 'accepted', by: 'ann', at: 1, inputHash: 'h' } as const
const succeeded: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: 1 } }

/** The events that bring a call there. Its id is also what its provider calls it. */
export function callEvents(id: string, stage: CallStage, origin: Partial<CallOrigin> = {}): Events {
  const callId = parseCallId(id)
  const call: CallOrigin = { id: callId, providerCallId: id, name: 'tool', ...origin }
  if (stage === 'streaming') return [{ type: 'call-announced', callId, call }]
  const asked = stage === 'waiting' || stage === 'accepted'
  const approval = asked ? 'required' : 'not-required'
  const recorded: TurnEventBody = { type: 'call-recorded', callId, call, input: {}, approval }
  if (stage === 'waiting' || stage === 'ready') return [recorded]
  if (stage === 'accepted') return [recorded, { type: 'call-decided', callId, decision }]
  const started: TurnEventBody = { type: 'call-started', callId }
  if (stage === 'running') return [recorded, started]
  const settled = (outcome: CallOutcome): TurnEventBody => ({
    type: 'call-settled',
    callId,
    outcome,
  })
  if (stage === 'succeeded') return [recorded, started, settled(succeeded)]
  const lost = [recorded, started, settled({ state: 'unknown', cause: 'crashed' })]
  if (stage === 'unknown') return lost
  const resolution = { kind: 'skip', by: 'ann', at: 1 } as const
  return [...lost, { type: 'call-resolved', callId, resolution }]
}

export const textEvents = (
  text: string,
  block = '0',
  kind: 'text' | 'reasoning' = 'text',
): Events => [
  { type: 'text-started', block, kind },
  { type: 'text-appended', block, delta: text },
  { type: 'text-ended', block },
]

/** A step that is not over. */
export const openStep = (step: number, ...parts: readonly Events[]): Events => [
  { type: 'step-started', step },
  ...parts.flat(),
]
export const endedStep = (
  step: number,
  finishReason: FinishReason,
  ...parts: readonly Events[]
): Events => [...openStep(step, ...parts), { type: 'step-ended', finishReason }]
export const abandonedStep = (step: number, ...parts: readonly Events[]): Events => [
  ...openStep(step, ...parts),
  { type: 'step-abandoned' },
]
