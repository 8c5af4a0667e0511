import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { certainInputOf, certainTextOf } from './call-arguments.ts'
import { type LazyHref, projectOutput } from './lazy-output.ts'
import type { UiVocabulary } from './ui-vocabulary.ts'
import { errorTextOf } from './call-error-text.ts'

/** The approval of a tool part. */
export interface UiApproval {
  readonly id: string
  readonly approved?: boolean
  readonly reason?: string
  readonly isAutomatic?: true
  /** The signature of a request by a loop of the host's own. */
  readonly signature?: string
}

/** A tool part by type, or a `dynamic-tool` by name. */
export type UiToolKind =
  | { readonly type: `tool-${string}`; readonly toolName?: string }
  | { readonly type: 'dynamic-tool'; readonly toolName: string }

/** The state of a tool part, with the fields of that state. */
export type UiToolProgress =
  | { readonly state: 'input-streaming'; readonly rawInput?: string }
  | { readonly state: 'input-available' }
  | { readonly state: 'approval-requested' }
  | {
      readonly state: 'output-available'
      readonly output: Json
      readonly preliminary?: true
      readonly resultProviderMetadata?: JsonObject
    }
  | {
      readonly state: 'output-error'
      readonly errorText: string
      readonly rawInput?: string
      readonly resultProviderMetadata?: JsonObject
    }
  | { readonly state: 'output-denied' }

/** A tool part of an AI SDK `UIMessage`. */
export type UiToolPart = UiToolKind &
  UiToolProgress & {
    readonly toolCallId: string
    readonly input?: Json
    readonly approval?: UiApproval
    readonly providerExecuted?: true
    readonly title?: string
    readonly toolMetadata?: JsonObject
    readonly callProviderMetadata?: JsonObject
  }

export function projectToolPart(
  call: Call,
  vocabulary: UiVocabulary,
  lazyHref?: LazyHref,
): UiToolPart {
  const extra = <Value>(value: Value): Value | undefined => (vocabulary.extras ? value : undefined)
  const kind: UiToolKind = call.dynamic
    ? { type: 'dynamic-tool', toolName: call.name }
    : { type: `tool-${call.name}` }
  return withDefined(
    { ...kind, toolCallId: call.id, ...progressOf(call, vocabulary, lazyHref) },
    {
      input: inputOf(call),
      approval: approvalOf(call, vocabulary),
      providerExecuted: call.providerExecuted,
      title: extra(call.title),
      toolMetadata: extra(call.toolMetadata),
      // A client without the extras gets it with the complete arguments, and not before.
      callProviderMetadata: isSentAsText(call)
        ? extra(call.providerMetadata)
        : call.providerMetadata,
    },
  )
}

/** Whether clients have the arguments of the call as text and parse them themselves. */
export const isSentAsText = (call: Call): boolean =>
  call.input.kind === 'partial' && call.state !== 'ready' && call.state !== 'running'

function inputOf({ input }: Call): Json | undefined {
  return input.kind === 'complete' ? input.value : certainInputOf(input)
}

function rawInputOf({ input }: Call): string | undefined {
  const text = input.kind === 'partial' ? certainTextOf(input) : ''
  return text === '' ? undefined : text
}

function progressOf(
  call: Call,
  vocabulary: UiVocabulary,
  lazyHref: LazyHref | undefined,
): UiToolProgress {
  const resultProviderMetadata = vocabulary.extras ? call.resultProviderMetadata : undefined
  switch (call.state) {
    case 'streaming':
      return withDefined({ state: 'input-streaming' } as const, { rawInput: rawInputOf(call) })
    case 'awaiting-approval':
      return { state: vocabulary.approvals === 'none' ? 'input-available' : 'approval-requested' }
    case 'ready':
      return { state: 'input-available' }
    case 'running':
      return call.preliminary === undefined
        ? { state: 'input-available' }
        : { state: 'output-available', output: call.preliminary, preliminary: true }
    case 'succeeded': {
      const output = projectOutput(call.output, lazyHref?.(call))
      return withDefined({ state: 'output-available', output } as const, { resultProviderMetadata })
    }
    case 'denied':
      if (approvalOf(call, vocabulary)?.approved === false) return { state: 'output-denied' }
      return outputError(call)
    case 'failed':
    case 'stopped':
    case 'interrupted':
    case 'unknown':
      return withDefined(outputError(call), { resultProviderMetadata })
    default:
      return assertNever(call)
  }
}

function outputError(call: Parameters<typeof errorTextOf>[0]) {
  return withDefined(
    { state: 'output-error', errorText: errorTextOf(call) } as const,
    // Clients keep it for tools with a type and drop it for dynamic ones.
    { rawInput: call.dynamic ? undefined : rawInputOf(call) },
  )
}

/** The requester matches the response by the id of its request. */
const approvalIdOf = ({ id, approvalRequest }: Call): string =>
  approvalRequest?.id ?? `approval-${id}`

function approvalOf(call: Call, { approvals }: UiVocabulary): UiApproval | undefined {
  if (approvals === 'none' || call.approval !== 'required') return undefined
  const id = approvalIdOf(call)
  const { decision } = call
  const isFull = approvals === 'requests-and-responses'
  const signature = isFull ? call.approvalRequest?.signature : undefined
  if (decision === undefined) {
    return call.state === 'denied'
      ? withDefined({ id, approved: false, reason: errorTextOf(call) }, { signature })
      : withDefined({ id }, { signature })
  }
  return withDefined(
    { id, approved: decision.kind === 'accepted' },
    {
      signature,
      reason: decision.feedback,
      isAutomatic: isFull ? decision.automatic : undefined,
    },
  )
}
