import { withoutVersions } from '../core/versions.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { UserPart } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { dateOf, fieldOf, idOf, listOf, objectOf, partListOf, textOf } from './old-fields.ts'
import type { ReportMend, OldUserMessage } from './old-message.ts'

/** The fields in which a person's message has its files, if not in parts. */
export const fileLists = ['experimental_attachments', 'attachments', 'files'] as const

/** A person's message, in any of the formats. */
export function readUserMessage(
  message: JsonObject,
  role: OldUserMessage['role'],
  mend: ReportMend,
): OldUserMessage {
  const own = partListOf(message)
  const { parts: stored, ...rest } = objectOf(message, 'metadata') ?? {}
  const listed = own.length === 0 && Array.isArray(stored) ? (stored as readonly Json[]) : own
  const parts = listed.flatMap((part, index) => readUserPart(part, index, mend))
  const metadata = listed === own ? fieldOf(message, 'metadata') : rest
  const files = fileLists.flatMap((name) =>
    listOf(message, name).flatMap((file, index) => readAttachment(file, `${name}[${index}]`, mend)),
  )
  return withDefined(
    { kind: 'user', role, parts: [...addContent(parts, message.content), ...files] } as const,
    { id: idOf(message, 'id'), at: dateOf(message), metadata: withoutVersions(metadata) },
  )
}

/** The parts of a person's message that has its text and its files beside each other. */
export const toUserParts = (text: string, message: JsonObject): readonly Json[] => [
  ...(text === '' ? [] : [{ type: 'text', text }]),
  ...listOf(message, 'files').map((file) =>
    isJsonObject(file) ? { ...file, type: 'file' } : file,
  ),
]

/** Text is the fallback: the content is used where the parts have no text. */
function addContent(parts: readonly UserPart[], content: Json | undefined): readonly UserPart[] {
  if (typeof content !== 'string') return parts
  const hasWords = parts.some((part) => part.type === 'text' && part.text.trim() !== '')
  if (hasWords || (content.trim() === '' && parts.some(({ type }) => type === 'text'))) return parts
  return [{ type: 'text', text: content }, ...parts.filter(({ type }) => type !== 'text')]
}

const fileTypes: ReadonlySet<unknown> = new Set(['file', 'image', 'image_url'])

function readUserPart(part: Json, index: number, mend: ReportMend): readonly UserPart[] {
  if (isJsonObject(part)) {
    const text = textOf(part, 'text')
    if (part.type === 'text' && text !== undefined) return [{ type: 'text', text }]
    const file = fileTypes.has(part.type) ? readFile(part) : undefined
    if (file !== undefined) return [{ type: 'file', ...file }]
    if (part.type === 'step-start') return []
  }
  mend(`parts[${index}]: A message of a person has text and files only: it was left out.`)
  return []
}

function readAttachment(value: Json, where: string, mend: ReportMend): readonly UserPart[] {
  const file = isJsonObject(value) ? readFile(value) : undefined
  if (file !== undefined) return [{ type: 'file', ...file }]
  mend(`${where}: It is no file: it was left out.`)
  return []
}

export type ReadFile = Omit<Extract<UserPart, { readonly type: 'file' }>, 'type'>

/** A file or an image under any of its names. `undefined`: it has neither a URL nor bytes. */
export function readFile(file: JsonObject): ReadFile | undefined {
  const stated = textOf(file, 'mediaType', 'contentType', 'mimeType')
  const bytes = textOf(file, 'data', 'image')
  const address = textOf(file, 'url') ?? textOf(objectOf(file, 'image_url') ?? {}, 'url')
  const url = address ?? (bytes === undefined ? undefined : toUrl(bytes, stated))
  if (url === undefined) return undefined
  const mediaType = stated ?? /^data:([^;,]+)/i.exec(url)?.[1] ?? guessOf(file)
  return withDefined({ mediaType, url }, { filename: textOf(file, 'filename', 'name') })
}

/** AI SDK 4 has bare base64 text; everything since then has a URL. */
const toUrl = (data: string, mediaType = 'application/octet-stream'): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : `data:${mediaType};base64,${data}`

const guessOf = ({ type }: JsonObject): string =>
  type === 'image' || type === 'image_url' ? 'image/*' : 'application/octet-stream'
