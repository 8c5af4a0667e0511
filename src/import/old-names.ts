import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { EntityKind } from '../views/entity-rows.ts'
import { toWord } from './call-outcome.ts'
import { columnOf } from './columns.ts'
import { unwrapFrameworkMessage } from './framework-message.ts'
import { fieldOf, flagOf, textOf } from './old-fields.ts'

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
