import type { TextStreamPart, ToolSet } from 'ai'
import { type Call, type CallOrigin, type CallOutcome, isOpenCall } from '../../core/call.ts'
import { errorTextOfThrown } from '../../core/error-text.ts'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import type { CallId, MessageId } from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { toProviderMetadata } from '../../core/provider-metadata.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import type { FinishReason, Usage } from '../../core/usage.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { ModelPart } from './model-part.ts'
import { toJson, toResultJson, UnstorableError } from '../to-json.ts'

/** What the AI SDK's single model call, or its whole `streamText` loop, emits. */
export type SdkPart = ModelPart | TextStreamPart<ToolSet>

/** Translates the SDK's parts into events, and maps the SDK's ids to ours. */
export interface PartTranslator {
  /** The events that follow from the part alone. Calls with complete arguments have to be recorded by the caller. */
  translate(part: SdkPart): readonly NewTurnEvent[]
  /** Our call for the provider's id; a new one if the id has not occurred in this step. */
  originOf(part: SdkCall): CallOrigin
  /** Results that arrived before the call was complete: to be pushed once it has been recorded. */
  early(part: SdkCall): readonly NewTurnEvent[]
  /**
   * The stream is over: returns the results of calls that never became complete. Results without any call are reported
   * as unmatched.
   */
  drain(): readonly NewTurnEvent[]
  /** The call that a part with this id refers to: the first open one, or else the last. */
  find(toolCallId: string): Call | undefined
  /** The block that a text delta continues, if the delta carries nothing but text. */
  blockOf(part: SdkText): string | undefined
  /** From now on text with this id continues a block that exists already. */
  adopt(id: string, block: string): void
  /** The step and its text blocks are over: further text with the same id begins a new block. */
  endStep(): void
  /** Calls that were begun and are not complete. */
  unfinished(): readonly CallId[]
  readonly step: number
}

type SdkText = Extract<SdkPart, { readonly type: 'text-delta' | 'reasoning-delta' }>
export type SdkCall = Extract<SdkPart, { readonly type: 'tool-call' }>

export interface TranslatorOptions {
  readonly turnId: MessageId
  readonly step: number
  /** How many blocks the step contains already, so that the next one gets a new id. @default 0 */
  readonly blocksBefore?: number
  readonly now: () => number
  readonly newCallId: (providerCallId: string) => CallId
  /** The turn including all pushed events: results are matched with its calls. */
  readonly turn: () => Turn
  /** Whether the stream carries the results of all calls, or only of those that the provider executes. */
  readonly ends: 'all' | 'provider-executed'
  /** The outcome that is stored for a call that the stream reports as failed. */
  readonly toErrorOutcome: (part: SdkToolError, call: Call) => CallOutcome
  /** The most characters of JSON that a result may have. */
  readonly maxResultChars: number
  /** Called for a result without a matching call. */
  readonly onUnmatched: (toolCallId: string) => void
}

export function createPartTranslator(options: TranslatorOptions): PartTranslator {
  const blocks = { text: new Map<string, string>(), reasoning: new Map<string, string>() }
  const calls = new Map<string, CallOrigin>()
  const recorded = new Set<CallId>()
  const begun = new Set<CallId>()
  const earlyParts = new Map<string, SdkEnd[]>()
  let nextBlock = options.blocksBefore ?? 0

  const toEvent = (event: TurnEventBody): NewTurnEvent => ({
    ...event,
    turnId: options.turnId,
    at: options.now(),
  })

  // Providers reuse block ids from step to step, and some within one step.
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
    if (verb === 'end' && known === undefined) return []
    if (verb === 'start' || known === undefined) {
      const block = openBlock(kind, part.id)
      const started = toEvent(withDefined({ type: 'text-started', block, kind } as const, metadata))
      return verb === 'start' ? [started] : [started, ...text(kind, part, verb, delta)]
    }
    if (verb === 'end') {
      blocks[kind].delete(part.id)
      return [toEvent(withDefined({ type: 'text-ended', block: known } as const, metadata))]
    }
    if (delta === '' && metadata.providerMetadata === undefined) return []
    return [toEvent(withDefined({ type: 'text-appended', block: known, delta } as const, metadata))]
  }

  const originOf = (part: SdkCall | ToolInputStart): CallOrigin => {
    const providerCallId = part.type === 'tool-call' ? part.toolCallId : part.id
    const announced = calls.get(providerCallId)
    // A provider whose call was approved, or that returns a late result, may repeat its call in a later step.
    if (announced === undefined && part.providerExecuted === true) {
      const earlier = find(providerCallId)
      if (earlier?.providerExecuted === true && isOpenCall(earlier)) return earlier
    }
    // The same id again in one step is another call (LG10).
    const isAnnounced =
      part.type === 'tool-call' && announced !== undefined && !recorded.has(announced.id)
    const known = isAnnounced ? announced : undefined
    const origin = withDefined(
      {
        id: known?.id ?? options.newCallId(providerCallId),
        providerCallId,
        name: part.toolName,
      },
      {
        // The SDK marks a tool that it does not know as dynamic, but only on the complete call: a client that has shown
        // the call under its tool's name would get a second one.
        dynamic: known === undefined ? part.dynamic === true || undefined : known.dynamic,
        providerExecuted: part.providerExecuted === true ? (true as const) : undefined,
        title: textOrNone(part.title),
        toolMetadata: jsonObject(part.toolMetadata),
        ...metadataOf(part.providerMetadata),
      },
    )
    calls.set(providerCallId, origin)
    if (part.type === 'tool-call') recorded.add(origin.id)
    // The SDK emits the error of an invalid call again as a separate part, but the caller that records the call settles
    // it at once.
    if (part.type === 'tool-call' && part.invalid === true) calls.delete(providerCallId)
    return origin
  }

  const find = (toolCallId: string): Call | undefined => {
    // Providers may reuse ids, so an id alone does not identify a call that the provider does not execute itself.
    const same = callsOf(options.turn()).filter(
      ({ id, providerCallId, providerExecuted }) =>
        (providerCallId === toolCallId || id === toolCallId) &&
        (options.ends === 'all' || providerExecuted === true),
    )
    return same.find(isOpenCall) ?? same.at(-1)
  }

  const end = (part: SdkEnd): readonly NewTurnEvent[] => {
    // Errors of calls of our own tools are stored by the caller that records them.
    if (options.ends !== 'all' && part.providerExecuted !== true) return []
    const call = find(part.toolCallId)
    if (call === undefined || call.state === 'streaming') {
      earlyParts.set(part.toolCallId, [...(earlyParts.get(part.toolCallId) ?? []), part])
      return []
    }
    return endEvents(part, call)
  }

  const endEvents = (part: SdkEnd, call: Call): readonly NewTurnEvent[] => {
    const { id: callId } = call
    const metadata = metadataOf(part.providerMetadata)
    if (part.type === 'tool-error') {
      const outcome = options.toErrorOutcome(part, call)
      return [toEvent(withDefined({ type: 'call-settled', callId, outcome } as const, metadata))]
    }
    if (part.preliminary === true) {
      const output = toProgress(part.output, options.maxResultChars)
      if (output === undefined) return []
      const progressed = toEvent({ type: 'call-progressed', callId, output })
      // A call that the provider executes counts as started with its first sign of progress.
      const isBegun = call.state !== 'ready' || call.providerExecuted !== true
      return isBegun ? [progressed] : [toEvent({ type: 'call-started', callId }), progressed]
    }
    const outcome = toOutcome(part.output, options.maxResultChars, (error) =>
      options.toErrorOutcome({ ...part, type: 'tool-error', error }, call),
    )
    return [toEvent(withDefined({ type: 'call-settled', callId, outcome } as const, metadata))]
  }

  return {
    step: options.step,
    originOf,
    blockOf,
    find,
    adopt: (id, block) => void blocks.text.set(id, block),
    endStep() {
      blocks.text.clear()
      blocks.reasoning.clear()
    },
    early(part) {
      const parts = earlyParts.get(part.toolCallId) ?? []
      earlyParts.delete(part.toolCallId)
      return parts.flatMap(end)
    },
    drain() {
      const parts = [...earlyParts.values()].flat()
      earlyParts.clear()
      return parts.flatMap((part) => {
        const call = find(part.toolCallId)
        if (call === undefined) options.onUnmatched(part.toolCallId)
        else begun.delete(call.id)
        return call === undefined ? [] : endEvents(part, call)
      })
    },
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
          return [toEvent({ type: 'call-announced', callId: call.id, call })]
        }
        case 'tool-input-delta': {
          const call = calls.get(part.id)
          if (call === undefined || part.delta === '') return []
          return [toEvent({ type: 'call-input-appended', callId: call.id, delta: part.delta })]
        }
        case 'source':
          return [toEvent({ type: 'item-added', item: toSource(part) })]
        case 'file':
        case 'reasoning-file': {
          const { mediaType, base64 } = part.file
          const item = { type: part.type, mediaType, url: `data:${mediaType};base64,${base64}` }
          return [toEvent({ type: 'item-added', item: withMetadata(item, part.providerMetadata) })]
        }
        case 'custom': {
          const item = { type: 'custom' as const, kind: part.kind }
          return [toEvent({ type: 'item-added', item: withMetadata(item, part.providerMetadata) })]
        }
        case 'tool-result':
        case 'tool-error':
          return end(part)
        case 'tool-approval-request': {
          const call = find(part.toolCall.toolCallId)
          // Asked again after it was decided: whoever decided is not asked a second time, nor is the decision lost (AP2).
          if (call === undefined || call.decision !== undefined) return []
          const request = withDefined(
            { id: part.approvalId },
            { signature: textOrNone(part.signature) },
          )
          return [toEvent({ type: 'call-approval-requested', callId: call.id, request })]
        }
        default:
          return []
      }
    },
  }
}

/**
 * A value that JSON cannot represent, or that is too large, cannot be stored; a truncated result would be a wrong one,
 * so the call fails.
 */
function toOutcome(
  output: unknown,
  maxChars: number,
  toErrorOutcome: (error: unknown) => CallOutcome,
): CallOutcome {
  try {
    const value = toResultJson(output, maxChars)
    return { state: 'succeeded', output: { kind: 'inline', value } }
  } catch (error) {
    // The error of a host application's getter is not for clients; any other text is ours.
    if (!(error instanceof UnstorableError) || error.isThrown) return toErrorOutcome(error)
    const text = `The result cannot be stored: it ${messageOf(error)}.`
    return { state: 'failed', cause: 'tool-error', error: text }
  }
}

/** A preliminary output that cannot be stored is dropped: the final result reports what is wrong. */
function toProgress(output: unknown, maxChars: number): Json | undefined {
  try {
    return toResultJson(output, maxChars)
  } catch {
    return undefined
  }
}

/** The result of a call, final or preliminary. */
type SdkEnd = Extract<SdkPart, { readonly type: 'tool-result' | 'tool-error' }>
type SdkToolError = Extract<SdkPart, { readonly type: 'tool-error' }>
type ToolInputStart = Extract<SdkPart, { readonly type: 'tool-input-start' }>
type Source = Extract<SdkPart, { readonly type: 'source' }>

function toSource(part: Source) {
  const { id: sourceId } = part
  const title = textOrNone(part.title)
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
        { filename: textOrNone(part.filename), ...metadata },
      )
}

const withMetadata = <Item extends object>(item: Item, metadata: unknown) =>
  withDefined(item, metadataOf(metadata))

const metadataOf = (metadata: unknown): { readonly providerMetadata: JsonObject | undefined } => ({
  providerMetadata: toProviderMetadata(jsonObject(metadata)),
})

/** A provider may send anything as a field that need not be there. */
const textOrNone = (text: unknown): string | undefined =>
  typeof text === 'string' ? text : undefined

/** Provider metadata as JSON. Metadata that cannot be stored is dropped, because it must not fail the turn. */
export const jsonObject = (value: unknown): JsonObject | undefined => {
  if (value == null) return undefined
  try {
    const json = toJson(value)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** The text of what was thrown; blank if it has none. */
export const messageOf = errorTextOfThrown

const longestModelId = 200

/** The name of the model that answered: a text of the provider's, of which no more is kept than a name has. */
export const toModelId = (name: unknown): string | undefined =>
  typeof name === 'string' ? name.slice(0, longestModelId).toWellFormed() : undefined

/** The SDK's token counts, without those that the provider did not report. */
export function toUsage(usage: {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined } | undefined
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined } | undefined
}): Usage {
  return withDefined(
    {},
    {
      inputTokens: toCount(usage.inputTokens),
      outputTokens: toCount(usage.outputTokens),
      totalTokens: toCount(usage.totalTokens),
      reasoningTokens: toCount(usage.outputTokenDetails?.reasoningTokens),
      cachedInputTokens: toCount(usage.inputTokenDetails?.cacheReadTokens),
    },
  )
}

/** A backend may send anything under these names. */
const toCount = (count: unknown): number | undefined =>
  typeof count === 'number' ? count : undefined

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
