import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import type { EntityKind } from '../views/entity-rows.ts'
import { type CallMarks, readMarks } from './call-outcome.ts'
import {
  callListOf,
  callLists,
  checkDate,
  columnOf,
  dateOf,
  fieldOf,
  flagOf,
  idOf,
  listOf,
  parseJsonText,
  textOf,
} from './old-fields.ts'
import { readCallHead } from './old-call.ts'
import type { OldCall, ReportMend } from './old-message.ts'
import { entityOf } from './old-shapes.ts'

export interface EntityRowRead {
  readonly index: number
  readonly row: JsonObject
  /** Whether Holdfast wrote it. */
  readonly isExact: boolean
  readonly entity: EntityKind
  readonly id?: string
  /** Shared by the rows of one turn, where the data has it. */
  readonly turnId?: string
  readonly at?: number
  readonly isComplete: boolean
  readonly text: string
  readonly calls: readonly EntityCallRead[]
  readonly result?: EntityResult
}

export interface EntityResult {
  readonly callId?: string
  readonly value: Json
  readonly name?: string
  readonly marks: CallMarks
}

export type EntityCallRead = Omit<OldCall, 'outcome'> & { readonly marks: CallMarks }

/** Reads a row with camel-case or snake-case names, as JSON or JSON text; or returns why it is not one. */
export function* readEntityRow(
  row: Json,
  index: number,
  mend: ReportMend,
): PausableWork<EntityRowRead | string> {
  if (!isJsonObject(row)) return 'It is not an object.'
  const kind = entityOf(row)
  if (kind === undefined) {
    return `Its entity ${JSON.stringify((textOf(row, 'entity') ?? '').slice(0, 80))} is not known.`
  }
  checkDate(row, mend)
  const isExact = isOurs(row, kind)
  const body = toBody(row, isExact)
  const inside = isJsonObject(body) ? body : {}
  const list = listOf(row, ...callLists).length > 0 ? row : inside
  const listed = callListOf(list, callLists, mend)
  const calls = yield* mapInSteps(listed, (call) => readCall(call, isExact, mend))
  const id = idOf(row, 'id')
  return withDefined(
    {
      index,
      row,
      isExact,
      entity: kind === 'AI_MESSAGE' && calls.length > 0 ? 'AI_TOOL' : kind,
      isComplete:
        flagOf(row, 'isComplete', 'is_complete') ??
        flagOf(inside, 'isComplete', 'is_complete') ??
        true,
      text: kind === 'TOOL' ? '' : (findText(body) ?? fallbackText(row.content, kind)),
      calls: kind === 'AI_TOOL' || kind === 'AI_MESSAGE' ? calls : [],
    } as const,
    {
      id: id ?? idOf(row, 'message_id', 'messageId'),
      turnId: id === undefined ? undefined : idOf(row, 'messageId', 'message_id'),
      at: dateOf(row),
      result: kind === 'TOOL' ? readResult(row, body, mend) : undefined,
    },
  )
}

/** Whether `projectEntityRows` wrote it: its ids contain the id of its message. */
function isOurs(row: JsonObject, kind: EntityKind): boolean {
  const [id = '', messageId] = [textOf(row, 'id'), textOf(row, 'messageId')]
  if (messageId === undefined) return false
  if (kind === 'TOOL') return id.endsWith(':result')
  return kind === 'USER' || kind === 'SYSTEM' ? id === messageId : id.startsWith(`${messageId}:`)
}

/** Holdfast itself never writes the body as JSON text, so a text that looks like JSON stays as it is. */
function toBody(row: JsonObject, isExact: boolean): Json {
  const content = row.content ?? ''
  if (typeof content !== 'string' || (isExact && row.entity !== 'TOOL')) return content
  const parsed = /^\s*"/.test(content) ? parseJsonText(content) : columnOf(row, 'content')
  return typeof parsed === 'object' || typeof parsed === 'string' ? (parsed ?? content) : content
}

/** The text of a body: the body itself, or a field of it that is known to hold text. */
function findText(body: Json): string | undefined {
  const found: FoundText[] = []
  if (!collectText(body, found)) return undefined
  // An item of an unknown shape is kept as JSON, so that no content is lost.
  return found.map((part) => (typeof part === 'string' ? part : JSON.stringify(part.item))).join('')
}

/** A text, or an item of a list that has none, beside others that have. */
type FoundText = string | { readonly item: Json }

/** Adds the texts of a body, each item of which is looked at once; false: it has none, and nothing was added. */
function collectText(body: Json, found: FoundText[]): boolean {
  if (typeof body === 'string') {
    found.push(body)
    return true
  }
  if (Array.isArray(body)) {
    const before = found.length
    let hasText = false
    for (const item of body as readonly Json[]) {
      if (collectText(item, found)) hasText = true
      else found.push({ item })
    }
    if (!hasText) found.length = before
    return hasText
  }
  const text = isJsonObject(body) ? fieldOf(body, 'text', 'content', 'message', 'parts') : undefined
  return text !== undefined && collectText(text, found)
}

/** JSON without text in it is kept as the text of a person's message, and dropped from others if it is empty. */
function fallbackText(content: Json | undefined, kind: EntityKind): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
  if (kind === 'USER' || kind === 'SYSTEM') return content == null ? '' : text
  return kind === 'AI_TOOL' || /^\s*(?:\{\s*\}|\[\s*\]|"")\s*$/.test(text) ? '' : text
}

function readCall(call: JsonObject, isExact: boolean, mend: ReportMend): EntityCallRead {
  return { ...readCallHead(call, isExact), marks: readMarks(call, mend) }
}

function readResult(row: JsonObject, body: Json, mend: ReportMend): EntityResult {
  const inside = isJsonObject(body) ? body : {}
  const callId =
    idOf(inside, 'toolCallId', 'tool_call_id') ?? idOf(row, 'toolCallId', 'tool_call_id')
  const field = ['result', 'content', 'output'].find((name) => Object.hasOwn(inside, name))
  const value = field === undefined ? body : (inside[field] ?? null)
  const { isComplete: _, ...marks } = { ...readMarks(row, mend), ...readMarks(inside, mend) }
  const name =
    textOf(inside, 'name', 'toolName', 'tool_name') ?? textOf(row, 'toolName', 'tool_name')
  return withDefined({ value, marks }, { callId, name })
}
