import { assertNever } from '../core/assert-never.ts'
import type { CallInput } from '../core/call.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ItemPart, Part, SteeringPart, TextPart, Turn, UserPart } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toKnownCall } from './known-call.ts'
import type { LazyOptions } from './lazy-output.ts'
import { type UiToolPart, projectToolPart } from './ui-tool-part.ts'
import { type SdkVersion, type UiVocabulary, vocabularyOf } from './ui-vocabulary.ts'

export interface UiOptions extends LazyOptions {
  readonly sdk?: SdkVersion
  /**
   * `include`: a `tool-<name>` part has the name in `toolName` too, as a `dynamic-tool` part does. No chunk of the AI SDK
   * can carry it, so a message that a client built live never has it.
   *
   * @default 'omit'
   */
  readonly toolNames?: ToolNames
  /**
   * `all`: with those keys that the JSON parser of AI SDK clients refuses, for an export: nothing that is stored is lost.
   *
   * @default 'accepted'
   */
  readonly keys?: 'accepted' | 'all'
}
/** Whether `tool-<name>` parts have `toolName`. */
export type ToolNames = 'include' | 'omit'

/** The fields that text and reasoning share. */
export interface UiTextBase {
  readonly text: string
  readonly state: 'streaming' | 'done'
  readonly providerMetadata?: JsonObject
}
/** A text or reasoning part of a UI message. */
export type UiTextPart =
  | (UiTextBase & { readonly type: 'text' })
  | (UiTextBase & { readonly type: 'reasoning'; readonly id: string })

/** A part of a UI message that arrives whole. */
export type UiItemPart =
  | Exclude<ItemPart, { readonly type: 'data' }>
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: Json }

/** An input that joined the running turn (IN3): in AI SDK 7 a part of its own, before that a data part. */
export type UiSteeringPart =
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly UserPart[] }
  | {
      readonly type: 'data-steering'
      readonly id: string
      readonly data: { readonly id: string; readonly parts: readonly UserPart[] }
    }

/** A part of an AI SDK `UIMessage`. */
export type UiPart =
  | { readonly type: 'step-start' }
  | UiTextPart
  | UiToolPart
  | UiItemPart
  | UiSteeringPart

/** Null for a part that a client of the version does not support. */
export function projectUiPart(
  part: Part,
  turn: Turn,
  options: UiOptions,
): Exclude<UiPart, { readonly type: 'step-start' }> | null {
  const vocabulary = vocabularyOf(options.sdk)
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return projectTextPart(part)
    case 'call': {
      const call = toKnownCall(part, turn)
      const tool = projectToolPart(call, vocabulary, options.lazyHref)
      const isCut = options.keys === 'all' && call.input !== part.input
      const shown = isCut ? withWholeText(tool, part.input) : tool
      return options.toolNames === 'include' ? { ...shown, toolName: part.name } : shown
    }
    case 'steering':
      return projectSteeringPart(part, vocabulary)
    default:
      return projectItemPart(part, vocabulary)
  }
}

/** Nobody follows an export live: where only the beginning of the arguments is shown, it has all of them as text. */
function withWholeText(tool: UiToolPart, input: CallInput): UiToolPart {
  if (input.kind === 'complete') return tool
  const whole = { rawInput: input.text }
  return { ...tool, ...whole }
}

export function projectTextPart(part: TextPart): UiTextPart {
  const base = withDefined(
    { text: part.text, state: part.state },
    { providerMetadata: part.providerMetadata },
  )
  return part.type === 'text'
    ? { type: 'text', ...base }
    : { type: 'reasoning', id: part.block, ...base }
}

export function projectSteeringPart(
  { id, parts }: SteeringPart,
  { steering }: UiVocabulary,
): UiSteeringPart {
  return steering
    ? { type: 'steering-message', id, parts }
    : { type: 'data-steering', id, data: { id, parts } }
}

export function projectItemPart(
  item: ItemPart,
  { extras, newItems }: UiVocabulary,
): UiItemPart | null {
  switch (item.type) {
    case 'data': {
      const { name, id, data } = item
      return withDefined({ type: `data-${name}`, data } as const, { id })
    }
    case 'source-url':
    case 'source-document':
      return item
    case 'file':
    case 'reasoning-file': {
      const { url, mediaType } = item
      const providerMetadata = extras ? item.providerMetadata : undefined
      // Before AI SDK 7 had a part for them, images in reasoning were files.
      const type = newItems ? item.type : 'file'
      return withDefined({ type, url, mediaType }, { providerMetadata })
    }
    case 'custom':
      return newItems ? item : null
    default:
      return assertNever(item)
  }
}
