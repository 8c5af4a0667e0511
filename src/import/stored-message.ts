import type { Call, CallOutcome } from '../core/call.ts'
import { isOpenCall } from '../core/call.ts'
import { callsOf, isTurn, type Message, type Part, type Step, type Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { OldCall, ReadDecision, OldMessage, OldPart, OldStep, OldTurn } from './old-message.ts'
import { importer } from './turn-events.ts'

/**
 * A stored message in the form that the readers of old data return. For an imported message it is the inverse
 * of `toTurnEvents`: written again, it is the same turn.
 */
export function toOldMessage(message: Message): OldMessage {
  const { id, createdAt: at, metadata } = message
  if (isTurn(message)) return toOldTurn(message)
  const { role, parts } = message
  return withDefined({ kind: 'user', id, at, role, parts } as const, { metadata })
}

function toOldTurn(turn: Turn): OldTurn {
  const { id, createdAt: at, metadata, choices, feedback, steps, progress } = turn
  return withDefined({ kind: 'turn', id, at, steps: steps.map(toOldStep) } as const, {
    metadata,
    choices,
    feedback,
    ending: progress.status === 'ended' ? progress.ending : undefined,
  })
}

function toOldStep(step: Step): OldStep {
  const isBroken = step.status === 'ended' && step.finishReason === 'interrupted'
  return withDefined(
    { parts: step.parts.map(toOldPart), index: step.index, at: step.startedAt },
    {
      flaw:
        step.status === 'abandoned'
          ? ('draft' as const)
          : isBroken
            ? ('broken' as const)
            : undefined,
    },
  )
}

function toOldPart(part: Part): OldPart {
  if (part.type === 'call') return toOldCall(part)
  if (part.type !== 'text' && part.type !== 'reasoning') return part
  const { type, text, block, providerMetadata } = part
  return withDefined({ type, text, block }, { providerMetadata })
}

function toOldCall(call: Call): OldCall {
  const { id: ownId, providerCallId: id, name, input, createdAt, resolution } = call
  const { dynamic, providerExecuted, title, providerMetadata, toolMetadata } = call
  return withDefined(
    {
      type: 'call',
      id,
      ownId,
      name,
      input,
      createdAt,
      outcome: isOpenCall(call) ? 'open' : outcomeOf(call),
    } as const,
    {
      ...{ dynamic, providerExecuted, title, providerMetadata, toolMetadata },
      decision: call.decision === undefined ? undefined : toDecision(call.decision),
      needsApproval: call.approval === 'required' ? (true as const) : undefined,
      wasSkipped: resolution?.kind === 'skip' ? (true as const) : undefined,
      resultProviderMetadata: call.resultProviderMetadata,
      startedAt: call.startedAt,
      endedAt: isOpenCall(call) ? undefined : call.endedAt,
    },
  )
}

function toDecision({ kind, feedback, automatic }: ReadDecision): ReadDecision {
  return withDefined({ kind }, { feedback, automatic })
}

function outcomeOf(call: Exclude<Call, { readonly state: 'streaming' }>): OldCall['outcome'] {
  switch (call.state) {
    case 'succeeded':
      return withDefined({ state: call.state, output: call.output } as const, {
        modelOutput: call.modelOutput,
      })
    case 'failed':
      return { state: call.state, cause: call.cause, error: call.error }
    case 'denied':
      return withDefined({ state: call.state, cause: call.cause } as const, {
        feedback: call.feedback,
        supersededBy: call.supersededBy,
      })
    case 'interrupted':
      return withDefined({ state: call.state, cause: call.cause } as const, {
        supersededBy: call.supersededBy,
      })
    case 'stopped':
    case 'unknown':
      return { state: call.state, cause: call.cause } as CallOutcome
    default:
      return 'open'
  }
}

/**
 * Whether all of it came from an import. A turn of the engine has its model, a turn of the host's own loop is
 * marked as recorded, and a person who decided or resolved has another name.
 */
export function isImported(message: Message): boolean {
  if (!isTurn(message)) return true
  const { recorded, progress, steps } = message
  if (recorded === true || progress.status !== 'ended') return false
  if (steps.some((step) => step.model !== undefined || ('usage' in step && step.usage)))
    return false
  return [...callsOf(message)].every(
    ({ decision, resolution }) =>
      (decision === undefined || decision.by === importer) &&
      (resolution === undefined || resolution.by === importer),
  )
}
