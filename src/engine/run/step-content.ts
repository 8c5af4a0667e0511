import {
  type ContentPart,
  DefaultGeneratedFile,
  type FinishReason as SdkFinishReason,
  type StepResult,
  type ToolSet,
} from 'ai'
import type { Call } from '../../core/call.ts'
import type { ItemPart, Step } from '../../core/message.ts'
import type { FinishReason } from '../../core/usage.ts'
import { withDefined } from '../../core/with-defined.ts'

type Result = StepResult<ToolSet>
type StepContent = Pick<
  Result,
  | 'content'
  | 'text'
  | 'reasoning'
  | 'reasoningText'
  | 'files'
  | 'sources'
  | 'toolCalls'
  | 'staticToolCalls'
  | 'dynamicToolCalls'
  | 'toolResults'
  | 'staticToolResults'
  | 'dynamicToolResults'
>
type Sdk<Type extends ContentPart<ToolSet>['type']> = Extract<
  ContentPart<ToolSet>,
  { readonly type: Type }
>

/** The content of a step in the AI SDK's types: its parts in order, then the results of its calls. */
export function toStepContent(step: Step): StepContent {
  const parts = step.parts.flatMap(toContent)
  const ends = step.parts.flatMap((part) => (part.type === 'call' ? toResultContent(part) : []))
  return sortContent([...parts, ...ends])
}

/** Sorts the content into the lists that the SDK exposes. */
export function sortContent(content: readonly ContentPart<ToolSet>[]): StepContent {
  const ofType = <Type extends ContentPart<ToolSet>['type']>(type: Type): Sdk<Type>[] =>
    content.filter((part): part is Sdk<Type> => part.type === type)
  type Called = Sdk<'tool-call'> | Sdk<'tool-result'>
  const isDynamic = ({ dynamic }: Called) => dynamic === true
  const isStatic = (part: Called) => !isDynamic(part)
  const toolCalls = ofType('tool-call')
  const toolResults = ofType('tool-result')
  const reasoning = ofType('reasoning')
  const sorted = {
    content: [...content],
    text: ofType('text')
      .map(({ text }) => text)
      .join(''),
    reasoning: reasoning.map(({ text, providerMetadata }) =>
      withDefined({ type: 'reasoning', text }, { providerOptions: providerMetadata }),
    ),
    reasoningText: reasoning.length === 0 ? undefined : reasoning.map(({ text }) => text).join(''),
    files: ofType('file').map(({ file }) => file),
    sources: ofType('source'),
    toolCalls,
    staticToolCalls: toolCalls.filter(isStatic),
    dynamicToolCalls: toolCalls.filter(isDynamic),
    toolResults,
    staticToolResults: toolResults.filter(isStatic),
    dynamicToolResults: toolResults.filter(isDynamic),
  }
  // The SDK separates dynamic tools by the type of the tool set, which is not known here; the `dynamic` field
  // separates them.
  return sorted as unknown as StepContent
}

function toContent(part: Step['parts'][number]): ContentPart<ToolSet>[] {
  if (part.type === 'call') return [toToolCall(part)]
  // A message of a person is not content of the model.
  if (part.type === 'steering') return []
  if (!('text' in part)) return toItem(part)
  const { type, text, providerMetadata } = part
  if (text === '' && providerMetadata === undefined) return []
  return [withDefined({ type, text }, { providerMetadata }) as ContentPart<ToolSet>]
}

function toItem(part: ItemPart): ContentPart<ToolSet>[] {
  switch (part.type) {
    case 'source-url': {
      const { sourceId: id, url, title, providerMetadata } = part
      const source = { type: 'source', sourceType: 'url', id, url } as const
      return [withDefined(source, { title, providerMetadata }) as ContentPart<ToolSet>]
    }
    case 'source-document': {
      const { sourceId: id, mediaType, title, filename, providerMetadata } = part
      const source = { type: 'source', sourceType: 'document', id, mediaType, title } as const
      return [withDefined(source, { filename, providerMetadata }) as ContentPart<ToolSet>]
    }
    case 'file':
    case 'reasoning-file': {
      const [head, base64] = part.url.split(',', 2)
      // A file that is only linked has no bytes here.
      if (base64 === undefined || !/^data:.*;base64$/.test(head ?? '')) return []
      const { type, mediaType, providerMetadata } = part
      const file = new DefaultGeneratedFile({ data: base64, mediaType })
      return [withDefined({ type, file }, { providerMetadata }) as ContentPart<ToolSet>]
    }
    case 'custom':
    case 'data':
      return []
    default:
      part satisfies never
      return []
  }
}

/**
 * A call as the model made it. One that names no tool, or whose arguments do not fit, is `invalid`, as in the SDK.
 */
export function toToolCall(call: Call): Sdk<'tool-call'> {
  const { id, name, input, dynamic, providerExecuted } = call
  const isInvalid =
    call.state === 'failed' && (call.cause === 'invalid-input' || call.cause === 'unknown-tool')
  const toolCall = {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: input.kind === 'complete' ? input.value : input.text,
  }
  return withDefined(
    toolCall,
    isInvalid
      ? { dynamic: true, invalid: true, error: call.error, providerExecuted }
      : { dynamic, providerExecuted },
  ) as unknown as Sdk<'tool-call'>
}

/** The end of a call: a result, an error, or nothing yet. */
export function toResultContent(call: Call): ContentPart<ToolSet>[] {
  const made = toToolCall(call)
  const { toolCallId, toolName, dynamic, providerExecuted } = made
  const input: unknown = made.input
  const head = withDefined({ toolCallId, toolName, input }, { dynamic, providerExecuted })
  switch (call.state) {
    case 'succeeded': {
      if (call.output.kind !== 'inline') return []
      return [{ ...head, type: 'tool-result', output: call.output.value }]
    }
    case 'failed':
      return [{ ...head, type: 'tool-error', error: call.modelError ?? call.error }]
    default:
      return []
  }
}

/** The SDK has no finish reason for a step that was ended from outside. */
export const toSdkFinishReason = (reason: FinishReason): SdkFinishReason =>
  reason === 'stopped' || reason === 'interrupted' ? 'other' : reason
