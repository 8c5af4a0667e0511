import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import { readOldDate } from '../../views/legacy/old-date.ts'
import type { ThreadFields } from './import-item.ts'

/** What the envelope says of a thread, whichever way it spells it. */
export function readThreadFields(thread: JsonObject): ThreadFields {
  const owner = textOf(thread, 'owner', 'ownerId')
  return withDefined(
    {},
    {
      id: textOf(thread, 'id', 'threadId', 'thread_id'),
      title: textOf(thread, 'title', 'name'),
      createdAt: readOldDate(thread.createdAt ?? thread.created_at ?? thread.creationDate),
      owner,
    },
  )
}

/** The thread that a single message says it belongs to. */
export const threadOf = (message: unknown): string | undefined =>
  isJsonObject(message) ? textOf(message, 'threadId', 'thread_id') : undefined

function textOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return undefined
}
