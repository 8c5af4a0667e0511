import { type Call, isOpenCall } from '../../core/call.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { Part, Step, Turn } from '../../core/message.ts'
import { projectUiMessage } from '../../views/ui-message.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'

/**
 * The turn as it is known to a client that sends its message back with answers. Another tab may have answered first, so
 * the current state of the turn does not show what this client has seen.
 */
export function toKnownTurn(turn: Turn, parts: readonly Json[], sdk: SdkVersion | undefined): Turn {
  const known = parts.filter(isJsonObject)
  const states = new Map(known.map((part) => [part.toolCallId, part.state]))
  const stepCount = known.filter((part) => part.type === 'step-start').length
  const steps: Step[] = []
  let shown = 0
  for (const step of turn.steps) {
    if (isShown(step, turn, sdk) && ++shown > stepCount) break
    steps.push({ ...step, parts: step.parts.map((part) => asSeenByClient(part, states)) })
  }
  const hasNote = known.some((part) => part.type === 'data-holdfast')
  if (hasNote) return { ...turn, steps }
  const { continuedAfter: _, ...unnoted } = turn
  return { ...unnoted, steps, progress: { status: 'waiting', waitingFor: 'approval' } }
}

/** The client's own answer is not an outcome: the client has still to receive what came of it. */
function asSeenByClient(part: Part, states: ReadonlyMap<unknown, unknown>): Part {
  if (part.type !== 'call' || isEnded(states.get(part.id))) return part
  if (isOpenCall(part) && part.state !== 'running') return part
  const { decision, proposedInput, ...call } = part
  const input: Call['input'] =
    proposedInput === undefined ? call.input : { kind: 'complete', value: proposedInput }
  const state = call.approval === 'required' ? 'awaiting-approval' : 'ready'
  return { ...call, input, state } as Call
}

const isEnded = (state: unknown): boolean =>
  state === 'output-available' || state === 'output-error' || state === 'output-denied'

function isShown(step: Step, turn: Turn, sdk: SdkVersion | undefined): boolean {
  const { continuedAfter: _, ...unnoted } = turn
  const alone: Turn = { ...unnoted, steps: [step], progress: { status: 'running' } }
  return projectUiMessage(alone, sdk === undefined ? {} : { sdk }) !== null
}
