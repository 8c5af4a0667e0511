import { toProviderMetadata } from '../core/provider-metadata.ts'
import type { CallInput } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Validated } from '../views/call-status.ts'
import {
  type CallMarks,
  denied,
  failureOf,
  isOurCall,
  judgeCall,
  readChatOutcome,
  readErrorText,
  readMarks,
  type ReadOutcome,
  readStatusOutcome,
  succeeded,
} from './call-outcome.ts'
import {
  fieldOf,
  flagOf,
  idOf,
  objectOf,
  parseJsonText,
  readOldDate,
  stepOf,
  textOf,
  valueOf,
} from './old-fields.ts'
import type { OldCall, ReadDecision, ReportMend } from './old-message.ts'

/** The name of a tool. It is shown, stored and compared, so characters that databases refuse are replaced. */
function readToolName(object: JsonObject): string {
  const name = textOf(object, 'toolName', 'tool_name', 'name', 'tool') ?? ''
  return name.trim() === '' ? unnamed : name.replaceAll(/\p{Cc}|\p{Cs}/gu, '\u{fffd}')
}

/** The name of a tool where the data has none. */
export const unnamed = 'unknown'

/**
 * Arguments, as a value or as JSON text. Text that was cut off is kept as it is: arguments are never
 * invented. `exact`: a text is a value like any other, unless it contains an object.
 */
function readArguments(value: Json | undefined, exact = false): CallInput {
  if (typeof value !== 'string') {
    return { kind: 'complete', value: value ?? (exact && value === null ? null : {}) }
  }
  const parsed = parseJsonText(value)
  if (isJsonObject(parsed)) return { kind: 'complete', value: parsed }
  if (exact) return { kind: 'complete', value }
  // A tool without arguments (CL7).
  if (value.trim() === '') return { kind: 'complete', value: {} }
  if (parsed !== undefined) return { kind: 'complete', value: parsed }
  return /^\s*[{[]/.test(value) ? { kind: 'partial', text: value } : { kind: 'complete', value }
}

/**
 * The tool and the arguments of a call, under any of their names. OpenAI has both in `function`. `exact`:
 * Holdfast wrote it, so arguments that are text are not parsed as JSON.
 */
export function readCallHead(
  call: JsonObject,
  exact = false,
): Pick<OldCall, 'type' | 'id' | 'name' | 'input'> {
  const named = objectOf(call, 'function') ?? call
  const id = idOf(call, 'id', 'toolCallId', 'tool_call_id', 'callId', 'call_id')
  const args = valueOf(named, 'args', 'arguments', 'input', 'parameters')
  const head = {
    type: 'call',
    name: readToolName(named),
    input: readArguments(args, exact),
  } as const
  return id === undefined ? head : { ...head, id }
}

/** A call as it is in `toolCalls`. `isExact`: `projectChatMessage` wrote it. */
export function readChatCall(
  call: JsonObject,
  at: number,
  mend: ReportMend,
  isExact = isOurCall(call),
): OldCall {
  const date = (...names: readonly string[]) => readOldDate(fieldOf(call, ...names))
  const head = readCallHead(call, isExact)
  const read = readChatOutcome(head.name, call, at, mend)
  return withDefined(
    { ...head, ...read },
    {
      step: stepOf(call),
      createdAt: date('createdAt', 'created_at'),
      startedAt: date('startedAt', 'started_at') ?? (isExact ? undefined : read.startedAt),
      endedAt: date('completedAt', 'completed_at', 'endedAt', 'ended_at'),
    },
  )
}

/** An entry of `tools_used`. A listed tool has run; some apps stored no more than that. */
export function readUsedTool(entry: JsonObject, at: number, mend: ReportMend): OldCall {
  const head = readCallHead(entry)
  const read = readStatusOutcome(head.name, entry, at, mend)
  if (read.outcome !== 'open' || textOf(entry, 'status', 'state') !== undefined) {
    return { ...head, ...read }
  }
  mend(`No result of ${head.name} was kept: it is null.`)
  return { ...head, ...read, ...succeeded(null) }
}

export interface InvocationContext {
  readonly marksOf: (toolCallId: string | undefined) => CallMarks
  /** Written by `projectVercelMessage`, which never writes arguments as JSON text. */
  readonly isExact: boolean
  readonly at: number
  readonly mend: ReportMend
}

/** For messages without annotations. */
export const plainContext = (at: number, mend: ReportMend): InvocationContext => ({
  marksOf: () => ({}),
  isExact: false,
  at,
  mend,
})

/** A tool invocation of AI SDK 3 and 4: from a part, or from the older `toolInvocations`. */
export function readToolInvocation(
  invocation: JsonObject,
  { marksOf, isExact, at, mend }: InvocationContext,
): OldCall {
  const id = idOf(invocation, 'toolCallId', 'tool_call_id')
  const marks = { ...readMarks(invocation, mend), ...marksOf(id) }
  const state = textOf(invocation, 'state')
  const args = valueOf(invocation, 'args', 'input')
  const hasResult = state === 'result' || Object.hasOwn(invocation, 'result')
  const isWhole = state !== 'partial-call' || hasResult
  const name = readToolName(invocation)
  return withDefined(
    {
      type: 'call',
      name,
      input: isWhole
        ? readArguments(args, isExact)
        : ({
            kind: 'partial',
            text: typeof args === 'string' ? args : textOfPartial(args),
          } as const),
      ...judgeCall(
        name,
        hasResult ? { value: invocation.result ?? null } : undefined,
        marks,
        at,
        mend,
      ),
    } as const,
    {
      id,
      step: stepOf(invocation),
      // Only in a model message.
      providerExecuted: invocation.providerExecuted === true ? (true as const) : undefined,
      providerMetadata: toProviderMetadata(
        objectOf(invocation, 'providerMetadata', 'providerOptions'),
      ),
    },
  )
}

const textOfPartial = (args: unknown): string => (args === undefined ? '' : JSON.stringify(args))

/** The result of a call, where it is separate from the call. */
export interface ToolAnswer {
  readonly type: 'answer'
  readonly callId?: string
  readonly end: Pick<OldCall, 'outcome' | 'decision'>
}

/** A message with the role `tool`: one result, as in OpenAI's format, or a list of them, as in the AI SDK's. */
export function readToolMessage(message: JsonObject, mend: ReportMend): readonly ToolAnswer[] {
  const content = fieldOf(message, 'content')
  if (idOf(message, 'tool_call_id', 'toolCallId') !== undefined || !Array.isArray(content)) {
    return [readToolResult({ ...message, result: toValue(content) })]
  }
  return (content as readonly Json[]).flatMap((part, index) => {
    if (isJsonObject(part) && part.type === 'tool-result') return [readToolResult(part)]
    mend(`content[${index}]: It is no result of a tool: it was left out.`)
    return []
  })
}

/** OpenAI's format has text only, so a result is JSON text there. */
function toValue(content: Json | undefined): Json {
  if (Array.isArray(content)) {
    const texts = (content as readonly Json[]).map((part) =>
      isJsonObject(part) ? textOf(part, 'text') : undefined,
    )
    return texts.every((text) => text !== undefined) ? texts.join('') : (content as Json)
  }
  const parsed = typeof content === 'string' ? parseJsonText(content) : undefined
  return typeof parsed === 'object' && parsed !== null ? parsed : (content ?? null)
}

export function readToolResult(part: JsonObject): ToolAnswer {
  const callId = idOf(part, 'toolCallId', 'tool_call_id')
  const end = readEnd(part)
  return callId === undefined ? { type: 'answer', end } : { type: 'answer', callId, end }
}

function readEnd(part: JsonObject): ToolAnswer['end'] {
  const plain = valueOf(part, 'result', 'output') ?? null
  if (flagOf(part, 'isError', 'is_error') === true) return { outcome: failureOf(undefined, plain) }
  // From AI SDK 5 on, `output` has its own type.
  const output = objectOf(part, 'output') ?? {}
  switch (output.type) {
    case 'execution-denied':
      return denied(textOf(output, 'reason'))
    case 'error-text':
    case 'error-json':
      return { outcome: failureOf(undefined, output.value) }
    case 'text':
    case 'json':
    case 'content':
      return succeeded(output.value ?? null)
    default:
      return succeeded(plain)
  }
}

/** What a stream contains about a call beside its result. */
export interface OldCallNote {
  readonly toolCallId: string
  /** Absent: not decided, or not in the data. */
  readonly validated: Validated | undefined
  /** False: the result of the call is incomplete. */
  readonly isComplete: boolean
}

/** An annotation of AI SDK 4 about a call; null for one about something else. */
export function readCallNote(item: Json): OldCallNote | null {
  if (!isJsonObject(item)) return null
  const toolCallId = idOf(item, 'toolCallId', 'tool_call_id')
  if (toolCallId === undefined) return null
  const { validated, isComplete } = readMarks(item, () => {})
  const isAboutCall = validated !== undefined || isComplete !== undefined || 'validated' in item
  return isAboutCall ? { toolCallId, validated, isComplete: isComplete !== false } : null
}

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
      providerMetadata: toProviderMetadata(objectOf(part, 'callProviderMetadata')),
      toolMetadata: objectOf(part, 'toolMetadata'),
      resultProviderMetadata: toProviderMetadata(objectOf(part, 'resultProviderMetadata')),
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
