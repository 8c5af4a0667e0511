import type { JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { dateOf, idOf } from '../import/old-fields.ts'
import type { ThreadFields } from './import-item.ts'

const threadNames = [
  'threadId',
  'thread_id',
  'chatId',
  'chat_id',
  'conversationId',
  'conversation_id',
] as const

/** What the envelope says of a thread, whichever way it spells it. */
export function readThreadFields(thread: JsonObject): ThreadFields {
  return withDefined(
    {},
    {
      id: idOf(thread, 'id', ...threadNames),
      title: idOf(thread, 'title', 'name'),
      createdAt: dateOf(thread),
      owner: idOf(thread, 'owner', 'ownerId'),
    },
  )
}

/** The thread that a single message says it belongs to. */
export const threadOf = (message: JsonObject): string | undefined => idOf(message, ...threadNames)
