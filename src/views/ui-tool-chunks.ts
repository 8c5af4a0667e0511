import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { certainTextOf } from './call-arguments.ts'
import type { LazyHref } from './lazy-output.ts'
import { sameJson } from './same-json.ts'
import type { UiToolChunk } from './ui-chunk.ts'
import { isSentAsText, projectToolPart, type UiToolPart } from './ui-tool-part.ts'
import type { UiVocabulary } from './ui-vocabulary.ts'

interface ToolChunkContext {
  readonly vocabulary: UiVocabulary
  readonly lazyHref: LazyHref | undefined
  /** Clients look for the call of a `tool-input-…` in the last step only, and otherwise add a second part. */
  readonly isInLastStep: boolean
}

/** The chunks that bring a client's part from one state of a call to another: from nothing, or over any gap. */
export function toolChunks(
  before: Call | undefined,
  call: Call,
  context: ToolChunkContext,
): readonly UiToolChunk[] {
  const { vocabulary, lazyHref, isInLastStep } = context
  const part = projectToolPart(call, vocabulary, lazyHref)
  const known = before === undefined ? undefined : projectToolPart(before, vocabulary, lazyHref)
  if (known !== undefined && sameJson(asJson(known), asJson(part))) return []

  const chunks: UiToolChunk[] = []
  /** The state of the client's part after the chunks so far. */
  let state = known?.state as UiToolPart['state'] | 'approval-responded' | undefined
  const text = textOf(call)
  const sentText = before === undefined ? undefined : textOf(before)
  let isInputSent = known !== undefined && text === sentText && sameHead(known, part)
  const emitInput = (): void => {
    if (!isInLastStep) return
    if (text === undefined) {
      chunks.push({
        type: 'tool-input-available',
        ...headOf(call, part),
        input: part.input ?? null,
      })
      state = 'input-available'
    } else {
      const isSameTool = known !== undefined && nameOf(known) === nameOf(part)
      const isContinuation = sentText !== undefined && isSameTool && text.startsWith(sentText)
      if (!isContinuation) chunks.push({ type: 'tool-input-start', ...headOf(call, part) })
      const inputTextDelta = isContinuation ? text.slice(sentText.length) : text
      if (inputTextDelta !== '') {
        chunks.push({ type: 'tool-input-delta', toolCallId: call.id, inputTextDelta })
      }
      state = 'input-streaming'
    }
    isInputSent = true
  }

  // Arguments that a person edited are sent after the decision, below.
  if (!isInputSent && (text !== undefined || known === undefined || sentText !== undefined))
    emitInput()
  for (const chunk of approvalChunks(known, part, vocabulary)) {
    chunks.push(chunk)
    state = chunk.type === 'tool-approval-request' ? 'approval-requested' : 'approval-responded'
  }
  const mustReturn = part.state === 'input-available' && state !== part.state
  if (!isInputSent || mustReturn) emitInput()
  const outcome = outcomeChunk(part, state)
  if (outcome !== undefined) chunks.push(outcome)
  return chunks
}

function approvalChunks(
  known: UiToolPart | undefined,
  { toolCallId, approval, state }: UiToolPart,
  { approvals }: UiVocabulary,
): readonly Extract<UiToolChunk, { readonly approvalId: string }>[] {
  if (approval === undefined) return []
  const { id: approvalId, approved, reason, isAutomatic, signature } = approval
  const request = withDefined({ type: 'tool-approval-request', toolCallId, approvalId } as const, {
    isAutomatic,
    signature,
  })
  const isRequested = known?.approval !== undefined
  switch (approvals) {
    case 'none':
      return []
    case 'requests-while-waiting':
      return state === 'approval-requested' && !isRequested ? [request] : []
    case 'requests':
      return isRequested ? [] : [request]
    case 'requests-and-responses': {
      if (approved === undefined) return isRequested ? [] : [request]
      if (known?.approval?.approved === approved) return []
      const response = withDefined(
        { type: 'tool-approval-response', approvalId, approved } as const,
        { reason },
      )
      // Only the request can carry that a policy decided.
      return isRequested && isAutomatic === undefined ? [response] : [request, response]
    }
    default:
      return assertNever(approvals)
  }
}

function outcomeChunk(
  part: UiToolPart,
  clientState: UiToolPart['state'] | 'approval-responded' | undefined,
): UiToolChunk | undefined {
  const { toolCallId } = part
  const dynamic = part.type === 'dynamic-tool' ? (true as const) : undefined
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return undefined
    case 'approval-requested':
      return part.approval === undefined || clientState === 'approval-requested'
        ? undefined
        : { type: 'tool-approval-request', toolCallId, approvalId: part.approval.id }
    case 'output-available': {
      const { output, preliminary, resultProviderMetadata: providerMetadata } = part
      return withDefined({ type: 'tool-output-available', toolCallId, output } as const, {
        dynamic,
        preliminary,
        providerMetadata,
      })
    }
    case 'output-error': {
      const { errorText, resultProviderMetadata: providerMetadata } = part
      return withDefined({ type: 'tool-output-error', toolCallId, errorText } as const, {
        dynamic,
        providerMetadata,
      })
    }
    case 'output-denied':
      return { type: 'tool-output-denied', toolCallId }
    default:
      return assertNever(part)
  }
}

function headOf(call: Call, part: UiToolPart) {
  return withDefined(
    { toolCallId: part.toolCallId, toolName: call.name },
    {
      dynamic: call.dynamic,
      providerExecuted: part.providerExecuted,
      title: part.title,
      toolMetadata: part.toolMetadata,
      providerMetadata: part.callProviderMetadata,
    },
  )
}

/** Whether the client has everything that the chunks of the arguments carry. */
function sameHead(known: UiToolPart, part: UiToolPart): boolean {
  const head = ({
    input,
    title,
    toolMetadata,
    callProviderMetadata,
    providerExecuted,
  }: UiToolPart) => asJson({ input, title, toolMetadata, callProviderMetadata, providerExecuted })
  return nameOf(known) === nameOf(part) && sameJson(head(known), head(part))
}

const nameOf = (part: UiToolPart): string =>
  part.type === 'dynamic-tool' ? part.toolName : part.type

/** The text that a client has of a call's arguments, where it has them as text. */
const textOf = (call: Call): string | undefined =>
  call.input.kind === 'partial' && isSentAsText(call) ? certainTextOf(call.input) : undefined

const asJson = (value: object): Json => value as Json
