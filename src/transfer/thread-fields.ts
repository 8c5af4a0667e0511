import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { dateOf, flagOf, idOf } from '../import/old-fields.ts'
import type { ThreadFields } from './import-item.ts'

const threadNames = [
  'threadId',
  'thread_id',
  'chatId',
  'chat_id',
  'conversationId',
  'conversation_id',
] as const

/** The fields of a thread in its envelope, under any of their names. */
export function readThreadFields(thread: JsonObject): ThreadFields {
  return withDefined(
    {},
    {
      id: idOf(thread, 'id', ...threadNames),
      title: idOf(thread, 'title', 'name'),
      createdAt: dateOf(thread),
      owner: idOf(thread, 'owner', 'ownerId'),
      metadata: isJsonObject(thread.metadata) ? thread.metadata : undefined,
      pinned: isFlagged(thread, 'pinned', 'isPinned'),
      archived: isFlagged(thread, 'archived', 'isArchived'),
      isOrdered: thread.order === 'oldest-first' ? (true as const) : undefined,
      hasMore: flagOf(thread, 'hasMore', 'has_more'),
    },
  )
}

const isFlagged = (thread: JsonObject, ...names: readonly string[]): true | undefined =>
  names.some((name) => thread[name] === true) ? true : undefined

/** The thread id in a single message. */
export const threadIdOf = (message: JsonObject): string | undefined => idOf(message, ...threadNames)

/** The names under which list routes return their results, besides the messages of a thread. */
const pageLists = ['results', 'data', 'items', 'rows', 'records', 'messages'] as const
const pageMarks = ['next_cursor', 'nextCursor', 'has_more', 'hasMore', 'page_size', 'pageSize']

/** A page of messages as a list route answers it: `{results, next_cursor, has_more}` and the like. */
export interface PageEnvelope {
  readonly list: readonly Json[]
  /** The name of the field that has the list. */
  readonly name: string
  readonly fields: ThreadFields
}

/** `undefined`: it is not a page, but a message or a thread. */
export function readEnvelope(value: JsonObject): PageEnvelope | undefined {
  if ('role' in value || 'entity' in value) return undefined
  // A thread has its own id; a page of one has a cursor instead.
  const isPage = pageMarks.some((name) => name in value) && !('id' in value)
  const { id: _, ...rest } = readThreadFields(value)
  const threadId = threadIdOf(value)
  const fields = withDefined(rest, { id: threadId })
  for (const name of pageLists) {
    const list = value[name]
    if (name === 'messages' && !isPage) continue
    if (Array.isArray(list)) return { list: list as readonly Json[], name, fields }
    if (!isJsonObject(list)) continue
    const inner = readEnvelope({ ...list, hasMore: list['hasMore'] ?? null })
    if (inner === undefined) continue
    return { ...inner, name: `${name}.${inner.name}`, fields: { ...fields, ...inner.fields } }
  }
  return undefined
}
