import type { ApprovalRequest, Call } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { ItemPart, Step, TextPart } from '../core/message.ts'
import { parsePartialJson } from '../core/partial-json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { AssistantPart, PromptApproval, PromptResult } from './model-message.ts'
import { projectPromptOutput, projectProviderOutput } from './prompt-output.ts'
import { isPristineStep } from './whole-step.ts'

interface PromptStepOptions {
  readonly maxOutputChars?: number
  /** The id of the call in this prompt. */
  readonly idOf: (call: Call) => string
  /** Results of the provider's own calls of earlier steps that came in this one. */
  readonly late: readonly Call[]
  /** The provider may still give the result of this call, so it is told although it has none. */
  readonly isAwaited: (call: Call) => boolean
  readonly approvals?: 'sdk'
}

interface PromptStep {
  readonly content: readonly AssistantPart[]
  readonly results: readonly (PromptResult | PromptApproval)[]
  /** It begins with what the provider owed from an earlier step: nothing may stand between the two. */
  readonly goesOn: boolean
  /** A result is still to come: nobody else may have the next word. */
  readonly isPending: boolean
}

/** Null for a step that gives the model nothing it could go on from. */
export function projectPromptStep(step: Step, options: PromptStepOptions): PromptStep | null {
  // Providers refuse reasoning that broke off and have no item for output that did, so of a step that
  // did not end by itself, or not in its first run, neither reasoning nor item ids are sent.
  const isWhole = isPristineStep(step)
  const late = options.late.filter(hasProviderEnd)
  const content: AssistantPart[] = late.map((call) => providerResult(call, options))
  const results: (PromptResult | PromptApproval)[] = []
  const goesOn = late.length > 0
  let isPending = false
  for (const part of step.parts) {
    if (part.type === 'call') {
      if (!isTold(part, step, isWhole, options)) continue
      const named = { toolCallId: options.idOf(part), toolName: nameOf(part) }
      content.push(callPart(part, named, isWhole))
      if (part.providerExecuted) {
        const approval = toApproval(part)
        if (approval !== null) results.push(approval)
        if (hasProviderEnd(part)) {
          if (part.resultStep === undefined) content.push(providerResult(part, options))
        } else if (approval === null) isPending = true
      } else if (options.approvals === 'sdk' && isToRun(part)) {
        const { id: approvalId, signature } = requestOf(part)
        const { toolCallId } = named
        const request = { type: 'tool-approval-request', approvalId, toolCallId } as const
        content.push(withDefined(request, { signature }))
        results.push({ type: 'tool-approval-response', approvalId, approved: true })
      } else {
        const output = projectPromptOutput(part, options.maxOutputChars)
        results.push({ type: 'tool-result', ...named, output })
      }
    } else if (step.status !== 'abandoned' && part.type !== 'steering') {
      const said = saidPart(part, isWhole)
      if (said !== null) content.push(said)
    }
  }
  const last = content.findLastIndex(canEnd)
  const rest = { results, goesOn, isPending }
  if (last !== -1) return { content: content.slice(0, last + 1), ...rest }
  // Providers that take no files from a model would be left with a message of nothing.
  const note = { type: 'text', text: '[A file was the whole answer.]' } as const
  return content.some(({ type }) => type === 'file')
    ? { content: [...content, note], ...rest }
    : null
}

/** A result that the provider gave, and takes back. */
const hasProviderEnd = (call: Call): boolean =>
  call.state === 'succeeded' || call.state === 'failed'

function providerResult(call: Call, { idOf }: PromptStepOptions): PromptResult {
  const { resultProviderMetadata: providerOptions } = call
  const named = { toolCallId: idOf(call), toolName: nameOf(call) }
  const result = { type: 'tool-result', ...named, output: projectProviderOutput(call) } as const
  return withDefined(result, { providerOptions })
}

/** Accepted, and nobody has run it yet. */
const isToRun = (call: Call): boolean =>
  call.state === 'ready' &&
  (call.decision?.kind === 'accepted' || call.resolution?.kind === 'retry')

const requestOf = ({ id, approvalRequest }: Call): ApprovalRequest =>
  approvalRequest ?? { id: `approval-${id}` }

/** What somebody said to the provider's own question, which only it can do something with. */
function toApproval({ approvalRequest, decision }: Call): PromptApproval | null {
  if (approvalRequest === undefined || decision === undefined) return null
  const { kind, feedback: reason } = decision
  const approval = {
    type: 'tool-approval-response',
    approvalId: approvalRequest.id,
    approved: kind === 'accepted',
    providerExecuted: true,
  } as const
  return withDefined(approval, { reason })
}

/** Of an abandoned step only what may have had an effect; of the provider's own calls what it ended or owes. */
function isTold(
  call: Call,
  step: Step,
  isWhole: boolean,
  { isAwaited }: PromptStepOptions,
): boolean {
  if (call.providerExecuted) {
    return isWhole && (hasProviderEnd(call) || toApproval(call) !== null || isAwaited(call))
  }
  return step.status !== 'abandoned' || call.startedAt !== undefined || call.state === 'succeeded'
}

/** Providers refuse a message that ends in reasoning, or has nothing else. */
const canEnd = (part: AssistantPart): boolean =>
  part.type === 'tool-call' ||
  part.type === 'tool-approval-request' ||
  part.type === 'tool-result' ||
  (part.type === 'text' && part.text.trim() !== '')

function saidPart(part: TextPart | ItemPart, isWhole: boolean): AssistantPart | null {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const { type, text } = part
      if (type === 'reasoning' && !isWhole) return null
      const providerOptions = isWhole
        ? part.providerMetadata
        : withoutItemIds(part.providerMetadata)
      // Some providers refuse blank text; others keep a signature on it.
      if (text.trim() === '' && (!isWhole || providerOptions === undefined)) return null
      return withDefined({ type, text } as const, { providerOptions })
    }
    case 'file':
    case 'reasoning-file': {
      // No provider fetches what a model is said to have made.
      if (!isWhole || !part.url.startsWith('data:')) return null
      const { type, url: data, mediaType, providerMetadata: providerOptions } = part
      return withDefined({ type, data, mediaType }, { providerOptions })
    }
    case 'custom': {
      if (!isWhole) return null
      const kind = part.kind as `${string}.${string}`
      const providerOptions = part.providerMetadata
      return withDefined({ type: 'custom', kind } as const, { providerOptions })
    }
    default:
      return null
  }
}

function callPart(
  call: Call,
  named: { readonly toolCallId: string; readonly toolName: string },
  isWhole: boolean,
): AssistantPart {
  // By its item id the provider would look up the arguments that a person has since changed (AP3).
  const keepsItem = isWhole && call.proposedInput === undefined
  const metadata = keepsItem ? call.providerMetadata : withoutItemIds(call.providerMetadata)
  return withDefined({ type: 'tool-call', ...named, input: inputOf(call) } as const, {
    providerExecuted: call.providerExecuted,
    providerOptions: withRequestId(call, metadata),
  })
}

/** By this OpenAI's provider gives the result under the id of the call that it asked about, not a new one. */
function withRequestId(
  { providerExecuted, approvalRequest }: Call,
  metadata: JsonObject | undefined,
): JsonObject | undefined {
  if (providerExecuted !== true || approvalRequest === undefined) return metadata
  const { openai } = metadata ?? {}
  const known = isJsonObject(openai) ? openai : {}
  return { ...metadata, openai: { ...known, approvalRequestId: approvalRequest.id } }
}

/** Providers demand an object. Some have tools that take text, and those say so with the call. */
function inputOf(call: Call): Json {
  const value =
    call.input.kind === 'complete' ? call.input.value : parsePartialJson(call.input.text)
  if (isJsonObject(value)) return value
  if (value === undefined || value === null || value === '') return {}
  const isOfTextTool = call.state === 'succeeded' && call.providerMetadata !== undefined
  return isOfTextTool && typeof value === 'string' ? value : { value }
}

/** A tool that was never offered here may have a name that a provider refuses, even in history. */
function nameOf(call: Call): string {
  if (call.providerExecuted || /^[\w-]{1,64}$/.test(call.name)) return call.name
  return call.name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown'
}

function withoutItemIds(metadata: JsonObject | undefined): JsonObject | undefined {
  if (metadata === undefined) return undefined
  const kept = Object.entries(metadata).flatMap(([provider, value]): [string, Json][] => {
    if (!isJsonObject(value)) return []
    const { itemId: _, ...rest } = value
    return Object.keys(rest).length === 0 ? [] : [[provider, rest]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
