import type { CallInput } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import {
  denied,
  readErrorText,
  type ReadOutcome,
  readStatusOutcome,
  succeeded,
} from './call-outcome.ts'
import { readArguments, readToolName } from './old-call.ts'
import { fieldOf, flagOf, idOf, objectOf, textOf, valueOf } from './old-fields.ts'
import type { ReportMend, OldCall, ReadDecision } from './old-message.ts'

/** A tool part of AI SDK 5–7, `tool-<name>` or `dynamic-tool`, or an artifact of that type. */
export function readToolPart(part: JsonObject, at: number, mend: ReportMend): OldCall {
  const type = textOf(part, 'type') ?? ''
  const isDynamic = type === 'dynamic-tool'
  const name = readToolName(isDynamic ? part : { name: type.slice('tool-'.length) })
  const artifact = artifactOf(part)
  if (artifact !== undefined) return readArtifact(name, part, artifact)
  return withDefined(
    { type: 'call', name, input: readInput(part), ...readState(part, at, mend) } as const,
    {
      id: idOf(part, 'toolCallId', 'tool_call_id'),
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

/** The fields of a tool part in the AI SDK, and in older parts of the kind. */
const partFields: ReadonlySet<string> = new Set([
  ...['type', 'id', 'toolCallId', 'tool_call_id', 'toolName', 'state', 'input', 'args', 'rawInput'],
  ...['output', 'result', 'errorText', 'error', 'approval', 'providerExecuted', 'title', 'dynamic'],
  ...['preliminary', 'callProviderMetadata', 'resultProviderMetadata', 'toolMetadata', 'status'],
  ...['validated', 'isComplete', 'is_complete'],
])

/**
 * The payload of a part that has neither a state nor a result, but the content itself: code, a chart, a
 * document. The app rendered these fields, so they count as the result.
 */
function artifactOf(part: JsonObject): JsonObject | undefined {
  const hasState = ['state', 'output', 'result', 'errorText'].some((name) => name in part)
  const has = Object.keys(part).some((name) => !partFields.has(name))
  if (hasState || !has) return undefined
  const {
    type: _type,
    toolCallId: _id,
    toolName: _name,
    input: _input,
    args: _args,
    ...rest
  } = part
  return rest
}

function readArtifact(name: string, part: JsonObject, payload: JsonObject): OldCall {
  return withDefined(
    {
      type: 'call',
      name,
      input: readArguments(valueOf(part, 'input', 'args')),
      ...succeeded(payload),
    } as const,
    { id: idOf(part, 'toolCallId', 'id'), title: textOf(part, 'title') },
  )
}

/** A part of the type `artifact`: its kind is in a field of its own. */
export function readArtifactPart(part: JsonObject): OldCall {
  const { type: _, ...payload } = part
  const inner = objectOf(part, 'artifact') ?? part
  const word = textOf(inner, 'artifactType', 'artifact_type', 'kind', 'name')
  return readArtifact(readToolName({ name: word ?? 'artifact' }), part, payload)
}

function readInput(part: JsonObject): CallInput {
  const raw = fieldOf(part, 'rawInput')
  const input = valueOf(part, 'input')
  if (typeof raw === 'string' && raw !== '') return { kind: 'partial', text: raw }
  if (part.state === 'input-streaming') {
    return { kind: 'partial', text: input === undefined ? '' : JSON.stringify(input) }
  }
  if (input === undefined && 'args' in part) return readArguments(part.args)
  const value = input === undefined ? raw : input
  if (value !== undefined) return { kind: 'complete', value }
  // Arguments that could not be parsed are absent here, and so are those that were never sent.
  return part.state === 'output-error'
    ? { kind: 'partial', text: '' }
    : { kind: 'complete', value: {} }
}

type State = ReadOutcome & Pick<OldCall, 'needsApproval'>

function readState(part: JsonObject, at: number, mend: ReportMend): State {
  const approval = objectOf(part, 'approval')
  const decision = approval === undefined ? undefined : readDecision(approval)
  const required = approval === undefined ? {} : ({ needsApproval: true } as const)
  const decided = decision === undefined ? required : { ...required, decision }
  switch (textOf(part, 'state')) {
    case 'output-available':
      // A preliminary result without a final one: the call did not end (CL10).
      return part.preliminary === true
        ? { outcome: 'open', ...decided }
        : { ...succeeded(valueOf(part, 'output', 'result') ?? null), ...decided }
    case 'output-error': {
      const error = textOf(part, 'errorText') ?? ''
      const known = readErrorText(error, at)
      if (known === undefined) {
        return { outcome: { state: 'failed', cause: 'tool-error', error }, ...decided }
      }
      // The decision is in the approval only.
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
      return { ...readStatelessEnd(part, at, mend), ...decided }
  }
}

/** A part without a state is judged by its other fields. */
function readStatelessEnd(part: JsonObject, at: number, mend: ReportMend): ReadOutcome {
  const error = fieldOf(part, 'errorText', 'error')
  const name = (textOf(part, 'type') ?? '').slice('tool-'.length)
  return readStatusOutcome(name, error === undefined ? part : { ...part, error }, at, mend)
}

/** A newer message denies a call too, without a decision: only the reason distinguishes the two. */
function deny(decision: ReadDecision | undefined, at: number): State {
  const feedback = decision?.feedback
  const known = feedback === undefined ? undefined : readErrorText(feedback, at)
  if (known !== undefined && known.decision === undefined && known.outcome.state === 'denied') {
    return { ...known, needsApproval: true }
  }
  return { ...denied(feedback), decision: { ...decision, kind: 'rejected' } }
}

function readDecision(approval: JsonObject): ReadDecision | undefined {
  const approved = flagOf(approval, 'approved')
  if (approved === undefined) return undefined
  return withDefined({ kind: approved ? 'accepted' : 'rejected' } as const, {
    feedback: textOf(approval, 'reason'),
    automatic: approval.isAutomatic === true ? (true as const) : undefined,
  })
}
