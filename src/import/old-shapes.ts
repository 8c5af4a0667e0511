import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { EntityKind } from '../views/entity-rows.ts'
import { toWord } from './call-outcome.ts'
import { callLists, columnOf, fieldOf, flagOf, listOf, partListOf, textOf } from './old-fields.ts'
import { hasStoredTools } from './sdk-message.ts'

type OldRole = 'user' | 'system' | 'assistant' | 'tool'

const roleWords: ReadonlyMap<string, OldRole> = new Map([
  ...['user', 'human', 'customer', 'client'].map((word) => [word, 'user'] as const),
  ...['system', 'developer'].map((word) => [word, 'system'] as const),
  ...['assistant', 'ai', 'bot', 'model', 'agent', 'chatbot'].map(
    (word) => [word, 'assistant'] as const,
  ),
  ...['tool', 'function'].map((word) => [word, 'tool'] as const),
])

const entityWords: ReadonlyMap<string, EntityKind> = new Map([
  ...['user', 'human'].map((word) => [word, 'USER'] as const),
  ['system', 'SYSTEM'],
  ['ai_tool', 'AI_TOOL'],
  ['tool', 'TOOL'],
  ...['ai_message', 'ai', 'assistant'].map((word) => [word, 'AI_MESSAGE'] as const),
])

export const roleOf = (message: JsonObject): OldRole | undefined =>
  roleWords.get(toWord(textOf(message, 'role') ?? ''))

export const entityOf = (row: JsonObject): EntityKind | undefined =>
  entityWords.get(toWord(textOf(row, 'entity') ?? ''))

const contentNames = [
  ...['msg_content', 'msgContent', 'message_content', 'messageContent'],
  ...['message', 'text', 'body', 'msg'],
] as const
const roleNames = [
  ...['msg_role', 'msgRole', 'message_role', 'messageRole', 'sender', 'sender_type', 'senderType'],
  ...['author', 'from', 'speaker', 'type', 'message_type', 'messageType', 'msg_type'],
] as const
const entityNames = ['entity_type', 'entityType', 'msg_entity', 'msg_type', 'type', 'kind'] as const

/**
 * The same message under the names that the readers expect: apps call the text of a message `msg_content`,
 * its role `sender`, or nest both in a `message`. A message that has the names already is returned as it is.
 */
export function toKnownNames(value: JsonObject): JsonObject {
  const message = unwrap(unwrapFrameworkMessage(value))
  const found: { content?: Json; role?: Json; entity?: Json; metadata?: Json } = {}
  if (message.content == null && !('parts' in message)) {
    const content = fieldOf(message, ...contentNames)
    if (content !== undefined) found.content = content
  }
  if (message.entity == null && message.role == null) {
    const entity = entityNames.map((name) => message[name]).find(isEntityWord)
    const role = entity === undefined ? findRole(message) : undefined
    if (entity !== undefined) found.entity = entity
    if (role !== undefined) found.role = role
  }
  const metadata = columnOf(message, 'metadata')
  if (metadata !== undefined && metadata !== message.metadata) found.metadata = metadata
  return Object.keys(found).length === 0 ? message : { ...message, ...found }
}

const isEntityWord = (value: Json | undefined): boolean =>
  typeof value === 'string' && value === value.toUpperCase() && entityWords.has(toWord(value))

function findRole(message: JsonObject): string | undefined {
  for (const name of roleNames) {
    const found = fieldOf(message, name)
    const word = isJsonObject(found) ? textOf(found, 'role', 'type') : found
    if (typeof word === 'string' && roleWords.has(toWord(word))) return word
  }
  const isUser = flagOf(message, 'is_user', 'isUser', 'from_user', 'fromUser')
  return isUser === undefined ? undefined : isUser ? 'user' : 'assistant'
}

/** Removes the wrapper of a message: `{id, created_at, message: {role, content}}`. */
function unwrap(value: JsonObject): JsonObject {
  if (['role', 'entity', 'content', 'parts'].some((name) => value[name] != null)) return value
  for (const name of ['message', 'data', 'msg'] as const) {
    const inner = columnOf(value, name)
    if (!isJsonObject(inner)) continue
    if (!['role', 'content', 'parts', 'entity'].some((field) => inner[field] != null)) continue
    const { [name]: _, ...rest } = value
    return { ...rest, ...inner }
  }
  return value
}

/**
 * Unwraps a message as a framework stores it, and keeps the fields of its wrapper: a row of Mastra's
 * `mastra_messages`, or a message of LangChain as in LangGraph's checkpoints. Any other value is returned as
 * it is.
 */
export const unwrapFrameworkMessage = (value: JsonObject): JsonObject =>
  unwrapMastra(value) ?? unwrapLangChain(value) ?? value

/**
 * Mastra: `content` is `{format: 2, parts, content?, metadata?, toolInvocations?}`, in most databases as JSON
 * text. Its parts are those of AI SDK 4, and `toolInvocations` repeats them.
 */
function unwrapMastra(value: JsonObject): JsonObject | undefined {
  const inner = columnOf(value, 'content')
  if (!isMastraContent(inner)) return undefined
  // `type` is the version of the row ("v2"), not a role.
  const { content: _, type: _type, ...row } = value
  const { format: _format, toolInvocations: _again, ...message } = inner
  return { ...row, ...message }
}

export const isMastraContent = (content: Json | undefined): content is JsonObject =>
  isJsonObject(content) && content.format === 2 && Array.isArray(content.parts)

const langChainRoles: ReadonlyMap<string, string> = new Map([
  ...['HumanMessage', 'human'].map((name) => [name, 'user'] as const),
  ...['SystemMessage', 'system'].map((name) => [name, 'system'] as const),
  ...['AIMessage', 'ai'].map((name) => [name, 'assistant'] as const),
  ...['ToolMessage', 'tool'].map((name) => [name, 'tool'] as const),
])

/**
 * LangChain: `{lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs}`, which is what `JSON.stringify`
 * makes of a message, or `{type: 'ai', data}`, as its stored messages are; both also of chunks.
 */
function unwrapLangChain(value: JsonObject): JsonObject | undefined {
  const { lc, type, kwargs, data, id, ...row } = value
  const name = lc === undefined ? type : Array.isArray(id) ? (id as readonly Json[]).at(-1) : null
  const message = lc === undefined ? data : kwargs
  const role = typeof name === 'string' ? langChainRoles.get(name.replace(/Chunk$/, '')) : undefined
  if (role === undefined || !isJsonObject(message)) return undefined
  const { tool_calls: calls, tool_call_chunks: _pieces, type: _type, ...kept } = message
  const isError = fieldOf(message, 'status') === 'error' ? { isError: true } : {}
  return { ...row, ...kept, ...isError, role, content: toParts(message.content, calls) }
}

/** The text of a model comes before its calls, as in the AI SDK's model messages. */
function toParts(content: Json | undefined, calls: Json | undefined): Json {
  const text = content ?? ''
  if (!Array.isArray(calls) || calls.length === 0) return text
  const texts = Array.isArray(text) ? (text as readonly Json[]) : [{ type: 'text', text }]
  return [
    // Some providers repeat the calls among the content, in a shape of their own.
    ...texts.filter((part) => isJsonObject(part) && part.type === 'text' && part.text !== ''),
    ...(calls as readonly Json[]).filter(isJsonObject).map((call) => ({
      type: 'tool-call',
      toolCallId: call.id ?? '',
      toolName: call.name ?? '',
      input: call.args ?? {},
    })),
  ]
}

/** The formats of old messages that an import reads. */
export type LegacyFormat = 'ui' | 'vercel' | 'tools-used' | 'commentary' | 'entities'

/** The formats that the caller of an import may name; `auto`: it is detected for each message. */
export const importFormats = [
  'auto',
  'ui',
  'vercel',
  'tools-used',
  'commentary',
  'entities',
] as const satisfies readonly ('auto' | LegacyFormat)[]

/**
 * The format of a message by its fields; plain text is `vercel`. An app that changed its format has messages
 * of both in one thread, so each message is examined by itself.
 */
export function detectFormat(message: JsonObject): LegacyFormat {
  if (hasEntity(message)) return 'entities'
  if (hasStoredTools(message)) return 'tools-used'
  const parts = partListOf(message)
  const hasCalls = listOf(message, ...callLists).length > 0
  // Where the parts only repeat the text, the calls beside it may have their commentary in it (LE3).
  if (hasCalls && parts.every(isText)) return 'commentary'
  if (parts.some(isOldPart)) return 'vercel'
  if (parts.some(isNewPart)) return 'ui'
  if (parts.length === 0 && callLists.some((name) => Array.isArray(message[name]))) {
    return 'commentary'
  }
  return parts.length > 0 && textOf(message, 'content') === undefined ? 'ui' : 'vercel'
}

/** Whether it is a row: one field decides, and its parts are not read. */
export const hasEntity = (message: JsonObject): boolean => textOf(message, 'entity') !== undefined

const isText = (part: Json): boolean => isJsonObject(part) && part.type === 'text'

const isOldPart = (part: Json): boolean =>
  isJsonObject(part) &&
  (part.type === 'tool-invocation' ||
    part.type === 'source' ||
    (part.type === 'reasoning' && typeof part.reasoning === 'string') ||
    (part.type === 'file' && typeof part.mimeType === 'string'))

const isNewPart = (part: Json): boolean =>
  isJsonObject(part) &&
  ('state' in part ||
    /^(?:tool-|data-|source-|dynamic-tool$|reasoning-file$|custom$|artifact$)/.test(
      textOf(part, 'type') ?? '',
    ))
