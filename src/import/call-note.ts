import { isJsonObject, type Json } from '../core/json.ts'
import type { Validated } from '../views/call-words.ts'
import { readMarks } from './call-outcome.ts'
import { idOf } from './old-fields.ts'

/** What a stream says of a call beside its result. */
export interface CallNote {
  readonly toolCallId: string
  /** Absent: nobody decided, or it is not said. */
  readonly validated: Validated | undefined
  /** False: what became of the call is not whole. */
  readonly isComplete: boolean
}

/** What an annotation of AI SDK 4 says of a call; null for one about something else. */
export function readCallNote(item: Json): CallNote | null {
  if (!isJsonObject(item)) return null
  const toolCallId = idOf(item, 'toolCallId', 'tool_call_id')
  if (toolCallId === undefined) return null
  const { validated, isComplete } = readMarks(item, () => {})
  const isAboutIt = validated !== undefined || isComplete !== undefined || 'validated' in item
  return isAboutIt ? { toolCallId, validated, isComplete: isComplete !== false } : null
}
