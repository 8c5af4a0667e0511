import type { Attributes } from '@opentelemetry/api'
import type { ModelMessage } from 'ai'
import type { Call, CallOutcome } from '../../core/call.ts'
import type { Part, Step } from '../../core/message.ts'
import type { FinishReason, Usage } from '../../core/usage.ts'
import type { AskedModel } from './hooks.ts'

/** Attributes of the OpenTelemetry semantic conventions for generative AI. */

/** The conventions' names of providers; others keep the name that they have in the AI SDK. */
const providers: readonly (readonly [start: string, name: string])[] = [
  ['google.vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]

/** `openai.responses` is `openai`; a provider without a name is `holdfast.unknown`, as the attribute is required. */
export function toProviderName(provider: string): string {
  const known = providers.find(([start]) => provider.startsWith(start))
  return known?.[1] ?? (provider.split('.')[0] || 'holdfast.unknown')
}

export const modelAttributes = ({ modelId, provider }: AskedModel): Attributes => ({
  'gen_ai.provider.name': toProviderName(provider),
  'gen_ai.request.model': modelId,
})

export function usageAttributes(usage: Usage | undefined): Attributes {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {}
  return {
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(cachedInputTokens !== undefined && {
      'gen_ai.usage.cache_read.input_tokens': cachedInputTokens,
    }),
    ...(reasoningTokens !== undefined && {
      'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
    }),
  }
}

/** The conventions' names of finish reasons. */
export function toFinishReasonName(reason: FinishReason): string {
  if (reason === 'tool-calls') return 'tool_call'
  return reason === 'content-filter' ? 'content_filter' : reason
}

export const inputMessages = (prompt: readonly ModelMessage[]): Attributes => ({
  'gen_ai.input.messages': JSON.stringify(
    prompt.map(({ role, content }) => ({
      role,
      parts: typeof content === 'string' ? [text(content)] : content.map(toInputPart),
    })),
  ),
})

export const outputMessages = ({ parts }: Step, reason: FinishReason): Attributes => ({
  'gen_ai.output.messages': JSON.stringify([
    {
      role: 'assistant',
      parts: parts.flatMap(toOutputPart),
      finish_reason: toFinishReasonName(reason),
    },
  ]),
})

export const callArguments = ({ input }: Call): Attributes =>
  input.kind === 'complete' ? { 'gen_ai.tool.call.arguments': JSON.stringify(input.value) } : {}

export const callResult = (outcome: CallOutcome): Attributes =>
  outcome.state === 'succeeded' && outcome.output.kind === 'inline'
    ? { 'gen_ai.tool.call.result': JSON.stringify(outcome.output.value) }
    : {}

const text = (content: string) => ({ type: 'text', content })

type InputPart = Exclude<ModelMessage['content'], string>[number]

/** Bytes are represented by their media type only: a trace must not contain files. */
function toInputPart(part: InputPart): object {
  switch (part.type) {
    case 'text':
      return text(part.text)
    case 'reasoning':
      return { type: 'reasoning', content: part.text }
    case 'tool-call':
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.output }
    default:
      return { type: part.type }
  }
}

function toOutputPart(part: Part): readonly object[] {
  switch (part.type) {
    case 'text':
      return [text(part.text)]
    case 'reasoning':
      return [{ type: 'reasoning', content: part.text }]
    case 'call': {
      const { id, name, input } = part
      const given = input.kind === 'complete' ? input.value : input.text
      return [{ type: 'tool_call', id, name, arguments: given }]
    }
    default:
      return [{ type: part.type }]
  }
}
