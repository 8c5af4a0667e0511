import { type Call, isOpenCall } from '../core/call.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import type { Part, Step, Turn } from '../core/message.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'

/**
 * The turn as far as a client has it that sends its message back with answers. Another tab may have
 * answered before it, so where the turn stands now says nothing about what this client has seen.
 */
export function toKnownTurn(turn: Turn, parts: readonly Json[], sdk: SdkVersion | undefined): Turn {
  const known = parts.filter(isJsonObject)
  const states = new Map(known.map((part) => [part.toolCallId, part.state]))
  const stepCount = known.filter((part) => part.type === 'step-start').length
  const steps: Step[] = []
  let shown = 0
  for (const step of turn.steps) {
    if (isShown(step, turn, sdk) && ++shown > stepCount) break
    steps.push({ ...step, parts: step.parts.map((part) => asToldBefore(part, states)) })
  }
  const hasNote = known.some((part) => part.type === 'data-holdfast')
  return hasNote
    ? { ...turn, steps }
    : { ...turn, steps, progress: { status: 'waiting', waitingFor: 'approval' } }
}

/** A client's own answer is no outcome: what came of it is still to be told. */
function asToldBefore(part: Part, states: ReadonlyMap<unknown, unknown>): Part {
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

const isShown = (step: Step, turn: Turn, sdk: SdkVersion | undefined): boolean =>
  projectUiMessage(
    { ...turn, steps: [step], progress: { status: 'running' } },
    sdk === undefined ? {} : { sdk },
  ) !== null
