import type { Json, JsonObject } from '../core/json.ts'
import type { FinishReason } from '../core/usage.ts'
import type { UiNotePart } from './ui-note-part.ts'
import type { UiItemPart, UiSteeringPart } from './ui-part.ts'

interface UiToolHead {
  readonly toolCallId: string
  readonly toolName: string
  readonly dynamic?: true
  readonly providerExecuted?: true
  readonly title?: string
  readonly toolMetadata?: JsonObject
  readonly providerMetadata?: JsonObject
}

/** A tool part's chunks, in the order in which they can follow each other. */
export type UiToolChunk =
  | (UiToolHead & { readonly type: 'tool-input-start' })
  | {
      readonly type: 'tool-input-delta'
      readonly toolCallId: string
      readonly inputTextDelta: string
    }
  | (UiToolHead & { readonly type: 'tool-input-available'; readonly input: Json })
  | {
      readonly type: 'tool-approval-request'
      readonly toolCallId: string
      readonly approvalId: string
      readonly isAutomatic?: true
      readonly signature?: string
    }
  | {
      readonly type: 'tool-approval-response'
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | {
      readonly type: 'tool-output-available'
      readonly toolCallId: string
      readonly output: Json
      readonly dynamic?: true
      readonly preliminary?: true
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'tool-output-error'
      readonly toolCallId: string
      readonly errorText: string
      readonly dynamic?: true
      readonly providerMetadata?: JsonObject
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }

export type UiTextChunk =
  | {
      readonly type: `${'text' | 'reasoning'}-${'start' | 'end'}`
      readonly id: string
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: `${'text' | 'reasoning'}-delta`
      readonly id: string
      readonly delta: string
      readonly providerMetadata?: JsonObject
    }

/** One chunk of an AI SDK UI message stream. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata?: Json }
  /** The metadata changed since the start. */
  | { readonly type: 'message-metadata'; readonly messageMetadata: Json }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | {
      readonly type: 'finish'
      readonly finishReason: Exclude<FinishReason, 'stopped' | 'interrupted'>
    }
  | { readonly type: 'error'; readonly errorText: string }
  | UiTextChunk
  | UiToolChunk
  /** Parts that arrive whole are the same in a message and in a stream. */
  | UiItemPart
  | UiSteeringPart
  | UiNotePart
