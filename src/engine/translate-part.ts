import type { LanguageModelStreamPart, TextStreamPart, ToolSet } from 'ai'
import type { CallOrigin } from '../core/call.ts'
import { errorTextOfThrown } from '../core/error-text.ts'
import type { NewTurnEvent, TurnFact } from '../core/event.ts'
import type { CallId, MessageId } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import type { FinishReason, Usage } from '../core/usage.ts'
import { withDefined } from '../core/with-defined.ts'
import { toJson } from './to-json.ts'

/** What the AI SDK's single model call, or its whole `streamText` loop, emits. */
export type SdkPart = LanguageModelStreamPart<ToolSet> | TextStreamPart<ToolSet>

/** The border between the SDK's words and ours. It keeps which of our ids stand for which of theirs. */
export interface PartTranslator {
  /** Facts that follow from the part alone. Calls with whole arguments are the caller's to record. */
  translate(part: SdkPart): readonly NewTurnEvent[]
  /** Our call for the provider's id; a new one where it has not been heard of in this step. */
  originOf(part: SdkCall): CallOrigin
  /** The block that a piece of text goes on with, where that is all there is to say of it. */
  blockOf(part: SdkText): string | undefined
  /** Calls that were begun and have not become whole. */
  unfinished(): readonly CallId[]
  readonly step: number
}

export type SdkText = Extract<SdkPart, { readonly type: 'text-delta' | 'reasoning-delta' }>
export type SdkCall = Extract<SdkPart, { readonly type: 'tool-call' }>

export interface TranslatorOptions {
  readonly turnId: MessageId
  readonly step: number
  readonly now: () => number
  readonly newCallId: () => CallId
}

export function createPartTranslator(options: TranslatorOptions): PartTranslator {
  const blocks = { text: new Map<string, string>(), reasoning: new Map<string, string>() }
  const calls = new Map<string, CallOrigin>()
  const recorded = new Set<CallId>()
  const begun = new Set<CallId>()
  let nextBlock = 0

  const fact = (event: TurnFact): NewTurnEvent => ({
    ...event,
    turnId: options.turnId,
    at: options.now(),
  })

  // Providers reuse block ids from step to step, and some within one.
  const openBlock = (kind: 'text' | 'reasoning', id: string): string => {
    const block = `${options.step}.${nextBlock++}`
    blocks[kind].set(id, block)
    return block
  }

  const blockOf = (part: SdkText): string | undefined =>
    part.providerMetadata == null
      ? blocks[part.type === 'text-delta' ? 'text' : 'reasoning'].get(part.id)
      : undefined

  const text = (
    kind: 'text' | 'reasoning',
    part: { readonly id: string; readonly providerMetadata?: unknown },
    verb: 'start' | 'append' | 'end',
    delta = '',
  ): readonly NewTurnEvent[] => {
    const known = blocks[kind].get(part.id)
    const metadata = metadataOf(part.providerMetadata)
    if (verb === 'start' || known === undefined) {
      const block = openBlock(kind, part.id)
      const started = fact(withDefined({ type: 'text-started', block, kind } as const, metadata))
      return verb === 'start' ? [started] : [started, ...text(kind, part, verb, delta)]
    }
    if (verb === 'end') {
      blocks[kind].delete(part.id)
      return [fact(withDefined({ type: 'text-ended', block: known } as const, metadata))]
    }
    if (delta === '' && metadata.providerMetadata === undefined) return []
    return [fact(withDefined({ type: 'text-appended', block: known, delta } as const, metadata))]
  }

  const originOf = (part: SdkCall | ToolInputStart): CallOrigin => {
    const providerCallId = part.type === 'tool-call' ? part.toolCallId : part.id
    const heard = calls.get(providerCallId)
    // The same id again in one step is another call (LG10).
    const isHeard = part.type === 'tool-call' && heard !== undefined && !recorded.has(heard.id)
    const known = isHeard ? heard : undefined
    const origin = withDefined(
      {
        id: known?.id ?? options.newCallId(),
        providerCallId,
        name: part.toolName,
      },
      {
        // The SDK calls a tool dynamic that it does not know, but says so only with the whole call:
        // a client that has the call as a tool of its own name would be given a second one.
        dynamic: known === undefined ? part.dynamic === true || undefined : known.dynamic,
        providerExecuted: part.providerExecuted === true ? (true as const) : undefined,
        title: part.title,
        toolMetadata: jsonObject(part.toolMetadata),
        ...metadataOf(part.providerMetadata),
      },
    )
    calls.set(providerCallId, origin)
    if (part.type === 'tool-call') recorded.add(origin.id)
    // Its error comes again as a part of its own; whoever records the call settles it at once.
    if (part.type === 'tool-call' && part.invalid === true) calls.delete(providerCallId)
    return origin
  }

  return {
    step: options.step,
    originOf,
    blockOf,
    unfinished: () => [...begun].filter((id) => !recorded.has(id)),
    translate(part) {
      switch (part.type) {
        case 'text-start':
          return text('text', part, 'start')
        case 'text-delta':
          return text('text', part, 'append', part.text)
        case 'text-end':
          return text('text', part, 'end')
        case 'reasoning-start':
          return text('reasoning', part, 'start')
        case 'reasoning-delta':
          return text('reasoning', part, 'append', part.text)
        case 'reasoning-end':
          return text('reasoning', part, 'end')
        case 'tool-input-start': {
          const call = originOf(part)
          begun.add(call.id)
          return [fact({ type: 'call-announced', callId: call.id, call })]
        }
        case 'tool-input-delta': {
          const call = calls.get(part.id)
          if (call === undefined || part.delta === '') return []
          return [fact({ type: 'call-input-appended', callId: call.id, delta: part.delta })]
        }
        case 'source':
          return [fact({ type: 'item-added', item: toSource(part) })]
        case 'file':
        case 'reasoning-file': {
          const { mediaType, base64 } = part.file
          const item = { type: part.type, mediaType, url: `data:${mediaType};base64,${base64}` }
          return [fact({ type: 'item-added', item: withMetadata(item, part.providerMetadata) })]
        }
        case 'custom': {
          const item = { type: 'custom' as const, kind: part.kind }
          return [fact({ type: 'item-added', item: withMetadata(item, part.providerMetadata) })]
        }
        case 'tool-result': {
          const call = calls.get(part.toolCallId)
          if (call === undefined) return []
          const callId = call.id
          if (part.preliminary === true) {
            return [fact({ type: 'call-progressed', callId, output: toJson(part.output) })]
          }
          const output = { kind: 'inline', value: toJson(part.output) } as const
          const settled = {
            type: 'call-settled',
            callId,
            outcome: { state: 'succeeded', output },
          } as const
          return [fact(withDefined(settled, metadataOf(part.providerMetadata)))]
        }
        case 'tool-error': {
          const call = calls.get(part.toolCallId)
          if (call === undefined) return []
          const outcome = {
            state: 'failed',
            cause: 'tool-error',
            error: messageOf(part.error),
          } as const
          return [fact({ type: 'call-settled', callId: call.id, outcome })]
        }
        default:
          return []
      }
    },
  }
}

type ToolInputStart = Extract<SdkPart, { readonly type: 'tool-input-start' }>
type Source = Extract<SdkPart, { readonly type: 'source' }>

function toSource(part: Source) {
  const { id: sourceId, title } = part
  const metadata = metadataOf(part.providerMetadata)
  return part.sourceType === 'url'
    ? withDefined({ type: 'source-url', sourceId, url: part.url } as const, { title, ...metadata })
    : withDefined(
        {
          type: 'source-document',
          sourceId,
          mediaType: part.mediaType,
          title: part.title,
        } as const,
        { filename: part.filename, ...metadata },
      )
}

const withMetadata = <Item extends object>(item: Item, metadata: unknown) =>
  withDefined(item, metadataOf(metadata))

const metadataOf = (metadata: unknown): { readonly providerMetadata: JsonObject | undefined } => ({
  providerMetadata: jsonObject(metadata),
})

/** What a provider says beside its words; what of it cannot be kept is left out, it must not cost the turn. */
export const jsonObject = (value: unknown): JsonObject | undefined => {
  if (value == null) return undefined
  try {
    const json = toJson(value)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** What was thrown, in words; blank where it has none. */
export const messageOf = errorTextOfThrown

/** The SDK's count of tokens, without what no provider told. */
export function toUsage(usage: {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined }
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined }
}): Usage {
  return withDefined(
    {},
    {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.totalTokens,
      reasoningTokens: usage.outputTokenDetails?.reasoningTokens,
      cachedInputTokens: usage.inputTokenDetails?.cacheReadTokens,
    },
  )
}

const finishReasons: ReadonlySet<string> = new Set<FinishReason>([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
])

export const toFinishReason = (reason: string): FinishReason =>
  finishReasons.has(reason) ? (reason as FinishReason) : 'other'
