import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { UserPart } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { dateOf, fieldOf, idOf, listOf, textOf } from './old-fields.ts'
import type { Mend, OldUserMessage } from './old-message.ts'

/** What a person wrote, in any of the formats. */
export function readUserMessage(
  message: JsonObject,
  role: OldUserMessage['role'],
  mend: Mend,
): OldUserMessage {
  const content = fieldOf(message, 'content')
  const stored = [...listOf(message, 'parts'), ...listOf(message, 'content')]
  const parts = stored.flatMap((part, index) => readUserPart(part, index, mend))
  const isTextMissing = parts.every((part) => part.type !== 'text')
  const text: readonly UserPart[] =
    isTextMissing && typeof content === 'string' ? [{ type: 'text', text: content }] : []
  const files = ['experimental_attachments', 'attachments', 'files'].flatMap((name) =>
    listOf(message, name).flatMap((file) => (isJsonObject(file) ? readFile(file) : [])),
  )
  return withDefined({ kind: 'user', role, parts: [...text, ...parts, ...files] } as const, {
    id: idOf(message, 'id'),
    at: dateOf(message),
    metadata: fieldOf(message, 'metadata'),
  })
}

function readUserPart(part: Json, index: number, mend: Mend): readonly UserPart[] {
  if (isJsonObject(part)) {
    const text = textOf(part, 'text')
    if (part.type === 'text' && text !== undefined) return [{ type: 'text', text }]
    const file = part.type === 'file' ? readFile(part) : []
    if (file.length > 0) return file
    if (part.type === 'step-start') return []
  }
  mend(`parts[${index}]: A message of a person has text and files only: it was left out.`)
  return []
}

function readFile(file: JsonObject): readonly UserPart[] {
  const mediaType =
    textOf(file, 'mediaType', 'contentType', 'mimeType') ?? 'application/octet-stream'
  const data = textOf(file, 'data')
  const url =
    textOf(file, 'url') ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`)
  if (url === undefined) return []
  return [
    withDefined({ type: 'file', mediaType, url } as const, {
      filename: textOf(file, 'filename', 'name'),
    }),
  ]
}
