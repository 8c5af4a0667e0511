import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { EntityKind } from '../views/entity-rows.ts'
import {
  callListOf,
  callLists,
  checkDate,
  dateOf,
  fieldOf,
  flagOf,
  idOf,
  listOf,
  textOf,
} from './old-fields.ts'
import type { Mend, OldCall } from './old-message.ts'
import { parseJsonText } from './read-arguments.ts'
import { readCallHead } from './read-call-head.ts'
import { readValidated, type ResultMarks } from './read-result-value.ts'

export interface EntityRowRead {
  readonly index: number
  readonly row: JsonObject
  /** We wrote it ourselves. */
  readonly isExact: boolean
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
export function readEntityRow(row: Json, index: number, mend: Mend): EntityRowRead | string {
  if (!isJsonObject(row)) return 'It is not an object.'
  const word = (textOf(row, 'entity') ?? '').toUpperCase()
  const kind = Object.hasOwn(kinds, word) ? kinds[word] : undefined
  if (kind === undefined) return `Its entity ${JSON.stringify(word.slice(0, 80))} is not known.`
  checkDate(row, mend)
  const isExact = isOurs(row, kind)
  const body = toBody(row, isExact)
  const inside = isJsonObject(body) ? body : {}
  const list = listOf(row, ...callLists).length > 0 ? row : inside
  const calls = callListOf(list, callLists, mend).map((call) => readCall(call, isExact))
  const id = idOf(row, 'id')
  return withDefined(
    {
      index,
      row,
      isExact,
      entity: kind === 'AI_MESSAGE' && calls.length > 0 ? 'AI_TOOL' : kind,
      isComplete: flagOf(row, 'isComplete', 'is_complete') ?? true,
      text: kind === 'TOOL' ? '' : (findText(body) ?? fallbackText(row.content, kind)),
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

/** Whether `projectEntityRows` wrote it: its ids say of which message it is. */
function isOurs(row: JsonObject, kind: EntityKind): boolean {
  const [id = '', messageId] = [textOf(row, 'id'), textOf(row, 'messageId')]
  if (messageId === undefined) return false
  if (kind === 'TOOL') return id.endsWith(':result')
  return kind === 'USER' || kind === 'SYSTEM' ? id === messageId : id.startsWith(`${messageId}:`)
}

/** What we write ourselves is never JSON text, so a message that looks like it stays as it is. */
function toBody(row: JsonObject, isExact: boolean): Json {
  const content = row.content ?? ''
  if (typeof content !== 'string' || (isExact && row.entity !== 'TOOL')) return content
  const parsed = parseJsonText(content)
  return typeof parsed === 'object' || typeof parsed === 'string' ? (parsed ?? content) : content
}

/** What a body says: it is text, or some of it is called so. */
function findText(body: Json): string | undefined {
  if (typeof body === 'string') return body
  if (Array.isArray(body)) {
    const items: readonly Json[] = body
    const hasText = items.some((item) => findText(item) !== undefined)
    // Nothing that was said is lost because it was said in a shape that nobody knows.
    return hasText
      ? items.map((item) => findText(item) ?? JSON.stringify(item)).join('')
      : undefined
  }
  const text = isJsonObject(body) ? fieldOf(body, 'text', 'content', 'message', 'parts') : undefined
  return text === undefined ? undefined : findText(text)
}

/** JSON without text in it is what was said, if it was said by a person, and nothing if it is empty. */
function fallbackText(content: Json | undefined, kind: EntityKind): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
  if (kind === 'USER' || kind === 'SYSTEM') return content == null ? '' : text
  return kind === 'AI_TOOL' || /^\s*(?:\{\s*\}|\[\s*\]|"")\s*$/.test(text) ? '' : text
}

function readCall(call: JsonObject, isExact: boolean): EntityCallRead {
  const validated = readValidated(call.validated)
  return withDefined(readCallHead(call, isExact), { validated })
}

function readResult(row: JsonObject, body: Json): NonNullable<EntityRowRead['result']> {
  const inside = isJsonObject(body) ? body : {}
  const callId =
    idOf(inside, 'toolCallId', 'tool_call_id') ?? idOf(row, 'toolCallId', 'tool_call_id')
  const field = ['result', 'content', 'output'].find((name) => Object.hasOwn(inside, name))
  const value = field === undefined ? body : (inside[field] ?? null)
  return withDefined({ value }, { callId, name: textOf(inside, 'name', 'toolName', 'tool_name') })
}
