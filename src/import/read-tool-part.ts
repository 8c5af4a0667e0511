import type { CallInput } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { fieldOf, flagOf, idOf, objectOf, textOf, valueOf } from './old-fields.ts'
import type { OldCall, OldDecision } from './old-message.ts'
import { denied, readErrorText } from './read-error-text.ts'
import { readToolName } from './read-tool-name.ts'

/** A tool part of AI SDK 5–7: `tool-<name>` or `dynamic-tool`. */
export function readToolPart(part: JsonObject, at: number): OldCall {
  const type = textOf(part, 'type') ?? ''
  const isDynamic = type === 'dynamic-tool'
  return withDefined(
    {
      type: 'call',
      name: readToolName(isDynamic ? part : { name: type.slice('tool-'.length) }),
      input: readInput(part),
      ...readState(part, at),
    } as const,
    {
      id: idOf(part, 'toolCallId'),
      // `dynamic: false` is a typed tool whose definition is gone.
      dynamic: isDynamic && part.dynamic !== false ? (true as const) : undefined,
      providerExecuted: part.providerExecuted === true ? (true as const) : undefined,
      title: textOf(part, 'title'),
      providerMetadata: objectOf(part, 'callProviderMetadata'),
      toolMetadata: objectOf(part, 'toolMetadata'),
      resultProviderMetadata: objectOf(part, 'resultProviderMetadata'),
    },
  )
}

function readInput(part: JsonObject): CallInput {
  const raw = fieldOf(part, 'rawInput')
  const input = valueOf(part, 'input')
  if (typeof raw === 'string' && raw !== '') return { kind: 'partial', text: raw }
  if (part.state === 'input-streaming') {
    return { kind: 'partial', text: input === undefined ? '' : JSON.stringify(input) }
  }
  const value = input === undefined ? raw : input
  if (value !== undefined) return { kind: 'complete', value }
  // Arguments that could not be read are left out, and so are those that were never given.
  return part.state === 'output-error'
    ? { kind: 'partial', text: '' }
    : { kind: 'complete', value: {} }
}

type State = Pick<OldCall, 'outcome' | 'decision' | 'wasSkipped' | 'startedAt' | 'needsApproval'>

function readState(part: JsonObject, at: number): State {
  const approval = objectOf(part, 'approval')
  const decision = approval === undefined ? undefined : readDecision(approval)
  const asked = approval === undefined ? {} : ({ needsApproval: true } as const)
  const decided = decision === undefined ? asked : { ...asked, decision }
  switch (textOf(part, 'state')) {
    case 'output-available':
      // A preliminary result was never followed by the final one (CL10).
      return part.preliminary === true
        ? { outcome: 'open', ...decided }
        : {
            outcome: { state: 'succeeded', output: { kind: 'inline', value: part.output ?? null } },
            ...decided,
          }
    case 'output-error': {
      const error = textOf(part, 'errorText') ?? ''
      const known = readErrorText(error, at)
      if (known === undefined) {
        return { outcome: { state: 'failed', cause: 'tool-error', error }, ...decided }
      }
      // Who decided is in the approval, or nowhere.
      const { decision: _, ...end } = known
      return { ...end, ...decided }
    }
    case 'output-denied':
      return deny(decision, at)
    case 'approval-requested':
      return { outcome: 'waiting' }
    case 'approval-responded':
      return decision?.kind === 'rejected' ? deny(decision, at) : { outcome: 'open', ...decided }
    default:
      return { outcome: 'open' }
  }
}

/** A newer message denies too, and then nobody decided: only the reason tells the two apart. */
function deny(decision: OldDecision | undefined, at: number): State {
  const feedback = decision?.feedback
  const known = feedback === undefined ? undefined : readErrorText(feedback, at)
  if (known !== undefined && known.decision === undefined && known.outcome.state === 'denied') {
    return { ...known, needsApproval: true }
  }
  return { ...denied(feedback), decision: { ...decision, kind: 'rejected' } }
}

function readDecision(approval: JsonObject): OldDecision | undefined {
  const approved = flagOf(approval, 'approved')
  if (approved === undefined) return undefined
  return withDefined({ kind: approved ? 'accepted' : 'rejected' } as const, {
    feedback: textOf(approval, 'reason'),
    automatic: approval.isAutomatic === true ? (true as const) : undefined,
  })
}
