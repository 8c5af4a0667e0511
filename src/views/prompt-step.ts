import type { ApprovalRequest, Call } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { ItemPart, Step, TextPart, Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { partialValueOf, shownInput } from './call-arguments.ts'
import type { AssistantPart, PromptApproval, PromptResult } from './model-message.ts'
import { projectPromptOutput, projectProviderOutput } from './prompt-output.ts'
import { isPristineStep } from './whole-step.ts'

interface PromptStepOptions {
  readonly turn: Turn
  readonly maxOutputChars?: number
  /** The id of the call in this prompt. */
  readonly idOf: (call: Call) => string
  /** Results of provider-executed calls of earlier steps that arrived in this one. */
  readonly late: readonly Call[]
  /** Whether the provider may still return the result of this call, so that the call is sent without one. */
  readonly isAwaited: (call: Call) => boolean
  readonly approvals?: 'sdk'
}

interface PromptStep {
  readonly content: readonly AssistantPart[]
  readonly results: readonly (PromptResult | PromptApproval)[]
  /**
   * The step begins with a result that the provider owed from an earlier step: no message may come between
   * the two.
   */
  readonly continuesPrevious: boolean
  /** A result is still to come: no other message may follow. */
  readonly isPending: boolean
}

/** Null for a step without anything that the model could continue from. */
export function projectPromptStep(step: Step, options: PromptStepOptions): PromptStep | null {
  // Providers refuse reasoning that broke off and have no item for output that did. So neither reasoning nor
  // item ids are sent of a step that did not end by itself, or not in its first run.
  const isWhole = isPristineStep(step)
  const late = options.late.filter(hasProviderEnd)
  const content: AssistantPart[] = late.map((call) => providerResult(call, options))
  const results: (PromptResult | PromptApproval)[] = []
  const continuesPrevious = late.length > 0
  let isPending = false
  for (const part of step.parts) {
    if (part.type === 'call') {
      if (!isInPrompt(part, step, isWhole, options)) continue
      const named = { toolCallId: options.idOf(part), toolName: nameOf(part) }
      content.push(callPart(part, named, isWhole, options.turn))
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
      const projected = contentPart(part, isWhole)
      if (projected !== null) content.push(projected)
    }
  }
  const last = content.findLastIndex(canEnd)
  const rest = { results, continuesPrevious, isPending }
  if (last !== -1) return { content: content.slice(0, last + 1), ...rest }
  // Providers that accept no files of a model would otherwise get an empty message.
  const note = { type: 'text', text: '[A file was the whole answer.]' } as const
  return content.some(({ type }) => type === 'file')
    ? { content: [...content, note], ...rest }
    : null
}

/** Whether the provider returned a result, which it then accepts in a prompt. */
const hasProviderEnd = (call: Call): boolean =>
  call.state === 'succeeded' || call.state === 'failed'

function providerResult(call: Call, { idOf }: PromptStepOptions): PromptResult {
  const { resultProviderMetadata: providerOptions } = call
  const named = { toolCallId: idOf(call), toolName: nameOf(call) }
  const result = { type: 'tool-result', ...named, output: projectProviderOutput(call) } as const
  return withDefined(result, { providerOptions })
}

/** Accepted, and not run yet. */
const isToRun = (call: Call): boolean =>
  call.state === 'ready' &&
  (call.decision?.kind === 'accepted' || call.resolution?.kind === 'retry')

const requestOf = ({ id, approvalRequest }: Call): ApprovalRequest =>
  approvalRequest ?? { id: `approval-${id}` }

/** The decision on a request of the provider, which only that provider can use. */
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

/**
 * Of an abandoned step, only calls that may have had an effect; of provider-executed calls, those that the
 * provider ended or owes.
 */
function isInPrompt(
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

function contentPart(part: TextPart | ItemPart, isWhole: boolean): AssistantPart | null {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const { type, text } = part
      if (type === 'reasoning' && !isWhole) return null
      const providerOptions = isWhole
        ? part.providerMetadata
        : withoutItemIds(part.providerMetadata)
      // Some providers refuse blank text; others attach a signature to it.
      if (text.trim() === '' && (!isWhole || providerOptions === undefined)) return null
      return withDefined({ type, text } as const, { providerOptions })
    }
    case 'file':
    case 'reasoning-file': {
      // No provider fetches a URL from a message of the assistant.
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
  turn: Turn,
): AssistantPart {
  // By the item id the provider would look up its original arguments, which a person has since edited (AP3).
  const keepsItem = isWhole && call.proposedInput === undefined
  const metadata = keepsItem ? call.providerMetadata : withoutItemIds(call.providerMetadata)
  return withDefined({ type: 'tool-call', ...named, input: inputOf(call, turn) } as const, {
    providerExecuted: call.providerExecuted,
    providerOptions: withRequestId(call, metadata),
  })
}

/**
 * With this, OpenAI's provider returns the result under the id of the call that it requested approval for,
 * not under a new one.
 */
function withRequestId(
  { providerExecuted, approvalRequest }: Call,
  metadata: JsonObject | undefined,
): JsonObject | undefined {
  if (providerExecuted !== true || approvalRequest === undefined) return metadata
  const { openai } = metadata ?? {}
  const known = isJsonObject(openai) ? openai : {}
  return { ...metadata, openai: { ...known, approvalRequestId: approvalRequest.id } }
}

/** Providers require an object. Some have tools that take text, and mark those calls. */
function inputOf(call: Call, turn: Turn): Json {
  const input = shownInput(call, turn)
  const value = input.kind === 'complete' ? input.value : partialValueOf(input)
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
