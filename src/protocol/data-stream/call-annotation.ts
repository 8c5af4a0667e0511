import { isJsonObject, type Json } from '../../core/json.ts'

/** What an annotation says of a call, in any of the spellings that backends of AI SDK 4 use. */
export interface CallAnnotation {
  readonly toolCallId: string
  /** Null: it says nothing about that. */
  readonly validated: 'accepted' | 'rejected' | 'pending' | null
  /** False: what became of the call is not whole; it was broken off. */
  readonly isComplete: boolean
}

/** Null for an annotation about something else. */
export function parseCallAnnotation(item: Json): CallAnnotation | null {
  if (!isJsonObject(item) || typeof item.toolCallId !== 'string') return null
  if (!Object.hasOwn(item, 'validated') && typeof item.isComplete !== 'boolean') return null
  return {
    toolCallId: item.toolCallId,
    validated: toValidated(item.validated),
    isComplete: item.isComplete !== false,
  }
}

function toValidated(value: Json | undefined): CallAnnotation['validated'] {
  if (value === true || value === 'accepted') return 'accepted'
  if (value === false || value === 'rejected') return 'rejected'
  return value === 'pending' ? 'pending' : null
}
