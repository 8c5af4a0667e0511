import type { Json, JsonObject } from '../core/json.ts'

/** Provider metadata of a part, sent back to the provider. */
interface WithOptions {
  readonly providerOptions?: JsonObject
}

export type PromptText = WithOptions & { readonly type: 'text'; readonly text: string }
type PromptReasoning = WithOptions & { readonly type: 'reasoning'; readonly text: string }
export type PromptFile = WithOptions & {
  readonly type: 'file'
  /** A URL, or a data URL. */
  readonly data: string
  readonly mediaType: string
  readonly filename?: string
}
type PromptReasoningFile = WithOptions & {
  readonly type: 'reasoning-file'
  readonly data: string
  readonly mediaType: string
}
type PromptCustom = WithOptions & {
  readonly type: 'custom'
  readonly kind: `${string}.${string}`
}
type PromptCall = WithOptions & {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: Json
  readonly providerExecuted?: true
}
export type PromptOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: Json }
  | { readonly type: 'content'; readonly value: readonly JsonObject[] }
  | { readonly type: 'execution-denied'; readonly reason?: string }
export type PromptResult = WithOptions & {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: PromptOutput
}

/** A person's decision on an approval that the provider requested for a call of its own. */
export interface PromptApproval {
  readonly type: 'tool-approval-response'
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
  readonly providerExecuted?: true
}

/** A request for approval by the loop of the AI SDK, which also handles the decision. */
interface PromptApprovalRequest {
  readonly type: 'tool-approval-request'
  readonly approvalId: string
  readonly toolCallId: string
  readonly signature?: string
}

export type AssistantPart =
  | PromptText
  | PromptReasoning
  | PromptReasoningFile
  | PromptFile
  | PromptCustom
  | PromptCall
  | PromptApprovalRequest
  | PromptResult

/** A message to a model, in the shape of AI SDK 7. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly (PromptText | PromptFile)[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly (PromptResult | PromptApproval)[] }
