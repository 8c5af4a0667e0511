import { assertNever } from '../core/assert-never.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ItemPart, Part, SteeringPart, TextPart, Turn, UserPart } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toClientJson } from './client-json.ts'
import { toKnownCall } from './known-call.ts'
import type { LazyOptions } from './lazy-output.ts'
import { type UiToolPart, projectToolPart } from './ui-tool-part.ts'
import { type SdkVersion, type UiVocabulary, vocabularyOf } from './ui-vocabulary.ts'

export interface UiOptions extends LazyOptions {
  readonly sdk?: SdkVersion
  /**
   * `include`: a `tool-<name>` part says the name in `toolName` too, as a `dynamic-tool` part does. No
   * chunk of the AI SDK can bring it, so a message that a client built live never has it.
   *
   * @default 'omit'
   */
  readonly toolNames?: ToolNames
}
export type ToolNames = 'include' | 'omit'

export interface UiTextBase {
  readonly text: string
  readonly state: 'streaming' | 'done'
  readonly providerMetadata?: JsonObject
}
export type UiTextPart =
  | (UiTextBase & { readonly type: 'text' })
  | (UiTextBase & { readonly type: 'reasoning'; readonly id: string })

export type UiItemPart =
  | Exclude<ItemPart, { readonly type: 'data' }>
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: Json }

/** What a person said while the turn ran (IN3): in AI SDK 7 a part of its own, before that one of data. */
export type UiSteeringPart =
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly UserPart[] }
  | {
      readonly type: 'data-steering'
      readonly id: string
      readonly data: { readonly id: string; readonly parts: readonly UserPart[] }
    }

export type UiPart =
  | { readonly type: 'step-start' }
  | UiTextPart
  | UiToolPart
  | UiItemPart
  | UiSteeringPart

/** Null for what a client of the version has no part for. */
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
      const tool = projectToolPart(toKnownCall(part, turn), vocabulary, options.lazyHref)
      return options.toolNames === 'include' ? { ...tool, toolName: part.name } : tool
    }
    case 'steering':
      return projectSteeringPart(part, vocabulary)
    default:
      return projectItemPart(part, vocabulary)
  }
}

export function projectTextPart(part: TextPart): UiTextPart {
  const base = withDefined(
    { text: part.text, state: part.state },
    { providerMetadata: toClientJson(part.providerMetadata) },
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
      return toClientJson(withDefined({ type: `data-${name}`, data } as const, { id }))
    }
    case 'source-url':
    case 'source-document':
      return toClientJson(item)
    case 'file':
    case 'reasoning-file': {
      const { url, mediaType } = item
      const providerMetadata = extras ? item.providerMetadata : undefined
      // Before there was a part of its own for them, what a model thought in pictures was a file.
      const type = newItems ? item.type : 'file'
      return toClientJson(withDefined({ type, url, mediaType }, { providerMetadata }))
    }
    case 'custom':
      return newItems ? toClientJson(item) : null
    default:
      return assertNever(item)
  }
}
