import type { NewThreadEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import type { UserPart } from '../core/message.ts'
import { parsePartialJson } from '../core/partial-json.ts'
import type { MessageVersion } from '../core/versions.ts'

type MessageAdded = Extract<NewThreadEvent, { readonly type: 'message-added' }> & {
  readonly seq: Seq
}

/** A user's message as a row of `messages`. */
export interface UserRow {
  readonly id: MessageId
  readonly seq: Seq
  readonly role: string
  readonly at: number
  readonly body: string | null
  readonly versions: readonly MessageVersion[] | null
}

/** The event that the row was stored for. Of a damaged row, what can still be parsed is returned (LG7). */
export function readUserRow(row: UserRow): MessageAdded {
  const body = parsePartialJson(row.body ?? '')
  const { parts, metadata } = isJsonObject(body) ? body : {}
  const versionOf = row.versions?.filter(({ seq }) => seq < row.seq) ?? []
  return {
    type: 'message-added',
    messageId: row.id,
    role: row.role === 'system' ? 'system' : 'user',
    parts: Array.isArray(parts) ? (parts as readonly Json[]).filter(isUserPart) : [],
    ...(metadata === undefined ? {} : { metadata }),
    ...(versionOf.length === 0 ? {} : { versionOf }),
    at: row.at,
    seq: row.seq,
  }
}

function isUserPart(part: unknown): part is UserPart {
  if (!isJsonObject(part)) return false
  if (part.type === 'text') return typeof part.text === 'string'
  return part.type === 'file' && typeof part.mediaType === 'string' && typeof part.url === 'string'
}
