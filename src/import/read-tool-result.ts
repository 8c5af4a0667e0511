import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { fieldOf, flagOf, idOf, objectOf, textOf, valueOf } from './old-fields.ts'
import { type MessagePart, hasEnded, type Mend, type OldCall } from './old-message.ts'
import { parseJsonText } from './read-arguments.ts'
import { failureOf } from './read-call-status.ts'
import { denied } from './read-error-text.ts'

/** What a call gave, where that is told apart from the call. */
export interface ToolAnswer {
  readonly type: 'answer'
  readonly callId?: string
  readonly end: Pick<OldCall, 'outcome' | 'decision'>
}

/** A message of the role `tool`: one result, as OpenAI has it, or a list of them, as the AI SDK has. */
export function readToolMessage(message: JsonObject, mend: Mend): readonly ToolAnswer[] {
  const content = fieldOf(message, 'content')
  if (idOf(message, 'tool_call_id', 'toolCallId') !== undefined || !Array.isArray(content)) {
    return [readToolResult({ ...message, result: toValue(content) })]
  }
  return (content as readonly Json[]).flatMap((part, index) => {
    if (isJsonObject(part) && part.type === 'tool-result') return [readToolResult(part)]
    mend(`content[${index}]: It is no result of a tool: it was left out.`)
    return []
  })
}

/** OpenAI knows text only, so that what a tool gave is there as JSON text. */
function toValue(content: Json | undefined): Json {
  if (Array.isArray(content)) {
    const texts = (content as readonly Json[]).map((part) =>
      isJsonObject(part) ? textOf(part, 'text') : undefined,
    )
    return texts.every((text) => text !== undefined) ? texts.join('') : (content as Json)
  }
  const parsed = typeof content === 'string' ? parseJsonText(content) : undefined
  return typeof parsed === 'object' && parsed !== null ? parsed : (content ?? null)
}

export function readToolResult(part: JsonObject): ToolAnswer {
  const callId = idOf(part, 'toolCallId', 'tool_call_id')
  const end = readEnd(part)
  return callId === undefined ? { type: 'answer', end } : { type: 'answer', callId, end }
}

function readEnd(part: JsonObject): ToolAnswer['end'] {
  const plain = valueOf(part, 'result', 'output') ?? null
  if (flagOf(part, 'isError', 'is_error') === true) return { outcome: failureOf(undefined, plain) }
  // From AI SDK 5 on it says in `output` what it is.
  const output = objectOf(part, 'output') ?? {}
  switch (output.type) {
    case 'execution-denied':
      return denied(textOf(output, 'reason'))
    case 'error-text':
    case 'error-json':
      return { outcome: failureOf(undefined, output.value) }
    case 'text':
    case 'json':
    case 'content':
      return succeed(output.value ?? null)
    default:
      return succeed(plain)
  }
}

const succeed = (value: Json): ToolAnswer['end'] => ({
  outcome: { state: 'succeeded', output: { kind: 'inline', value } },
})

/** The place of the last open call of that id; -1 if there is none. */
export const findOpenCall = (parts: readonly MessagePart[], callId: string | undefined): number =>
  parts.findLastIndex((part) => part.type === 'call' && part.id === callId && !hasEnded(part))
