import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { EntityKind } from '../entity-rows.ts'
import { dateOf, fieldOf, flagOf, idOf, listOf, objectOf, textOf, valueOf } from './old-fields.ts'
import type { OldCall } from './old-message.ts'
import { parseJsonText, readArguments } from './read-arguments.ts'
import { readValidated, type ResultMarks } from './read-result-value.ts'
import { readToolName } from './read-tool-name.ts'

export interface EntityRowRead {
  readonly index: number
  readonly row: JsonObject
  readonly entity: EntityKind
  readonly id?: string
  /** Rows of one turn share it, where the data has it. */
  readonly turnId?: string
  readonly at?: number
  readonly isComplete: boolean
  readonly text: string
  readonly calls: readonly EntityCallRead[]
  readonly result?: { readonly callId?: string; readonly value: Json; readonly name?: string }
}

export type EntityCallRead = Omit<OldCall, 'outcome'> & Pick<ResultMarks, 'validated'>

const kinds: Readonly<Record<string, EntityKind>> = {
  USER: 'USER',
  HUMAN: 'USER',
  SYSTEM: 'SYSTEM',
  AI_TOOL: 'AI_TOOL',
  TOOL: 'TOOL',
  AI_MESSAGE: 'AI_MESSAGE',
  AI: 'AI_MESSAGE',
  ASSISTANT: 'AI_MESSAGE',
}

/** A row with camel-case or snake-case names, with JSON or the text of it; or why it is none. */
export function readEntityRow(row: Json, index: number): EntityRowRead | string {
  if (!isJsonObject(row)) return 'It is not an object.'
  const word = (textOf(row, 'entity') ?? '').toUpperCase()
  const kind = Object.hasOwn(kinds, word) ? kinds[word] : undefined
  if (kind === undefined) return `Its entity ${JSON.stringify(word.slice(0, 80))} is not known.`
  const isExact = textOf(row, 'messageId') !== undefined
  const body = toBody(row, isExact)
  const inside = isJsonObject(body) ? body : {}
  const listed = listOf(row, 'toolCalls', 'tool_calls')
  const calls = (listed.length > 0 ? listed : listOf(inside, 'toolCalls', 'tool_calls'))
    .filter(isJsonObject)
    .map((call) => readCall(call, isExact))
  const id = idOf(row, 'id')
  return withDefined(
    {
      index,
      row,
      entity: kind === 'AI_MESSAGE' && calls.length > 0 ? 'AI_TOOL' : kind,
      isComplete: flagOf(row, 'isComplete', 'is_complete') ?? true,
      text: kind === 'TOOL' ? '' : toText(body, kind),
      calls: kind === 'AI_TOOL' || kind === 'AI_MESSAGE' ? calls : [],
    } as const,
    {
      id: id ?? idOf(row, 'message_id', 'messageId'),
      turnId: id === undefined ? undefined : idOf(row, 'messageId', 'message_id'),
      at: dateOf(row),
      result: kind === 'TOOL' ? readResult(row, body) : undefined,
    },
  )
}

/** What we write ourselves is never JSON text, so a message that looks like it stays as it is. */
function toBody(row: JsonObject, isExact: boolean): Json {
  const content = row.content ?? ''
  if (typeof content !== 'string' || (isExact && row.entity !== 'TOOL')) return content
  const parsed = parseJsonText(content)
  return typeof parsed === 'object' || typeof parsed === 'string' ? (parsed ?? content) : content
}

function toText(body: Json, kind: EntityKind): string {
  if (typeof body === 'string') return body
  if (Array.isArray(body))
    return (body as readonly Json[]).map((item) => toText(item, kind)).join('')
  if (!isJsonObject(body)) return body === null ? '' : JSON.stringify(body)
  const text = fieldOf(body, 'text', 'content', 'message', 'parts')
  if (text !== undefined) return toText(text, kind)
  // Nothing that was said is lost because it was said in a shape that nobody knows.
  return kind === 'AI_TOOL' || Object.keys(body).length === 0 ? '' : JSON.stringify(body)
}

function readCall(call: JsonObject, isExact: boolean): EntityCallRead {
  const named = objectOf(call, 'function') ?? call
  return withDefined(
    {
      type: 'call',
      name: readToolName(named),
      input: readArguments(valueOf(named, 'arguments', 'args', 'input'), isExact),
    } as const,
    {
      id: idOf(call, 'id', 'tool_call_id', 'toolCallId'),
      validated: readValidated(call.validated),
    },
  )
}

function readResult(row: JsonObject, body: Json): NonNullable<EntityRowRead['result']> {
  const inside = isJsonObject(body) ? body : {}
  const callId =
    idOf(inside, 'toolCallId', 'tool_call_id') ?? idOf(row, 'toolCallId', 'tool_call_id')
  const field = ['result', 'content', 'output'].find((name) => Object.hasOwn(inside, name))
  const value = field === undefined ? body : (inside[field] ?? null)
  return withDefined({ value }, { callId, name: textOf(inside, 'name', 'toolName', 'tool_name') })
}
