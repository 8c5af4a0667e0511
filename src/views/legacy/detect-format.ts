import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { listOf, objectOf, textOf } from './old-fields.ts'
import { toJson } from './to-json.ts'

export type LegacyFormat = 'ui' | 'vercel' | 'tools-used' | 'commentary' | 'entities'

/** The format of a list: that of the first message that has marks of one. Plain text is `vercel`. */
export function detectFormat(messages: readonly unknown[]): LegacyFormat {
  const formats = messages.flatMap((message) => {
    const json = toJson(message)
    return isJsonObject(json) ? [{ json, format: detectMessageFormat(json) }] : []
  })
  const telling = formats.find(
    ({ json, format }) => format === 'entities' || textOf(json, 'role') === 'assistant',
  )
  return (telling ?? formats[0])?.format ?? 'ui'
}

/** An app that changed its format has messages of both in one thread, so each is looked at by itself. */
export function detectMessageFormat(message: JsonObject): LegacyFormat {
  if (textOf(message, 'entity') !== undefined) return 'entities'
  if (Array.isArray(objectOf(message, 'metadata')?.tools_used)) return 'tools-used'
  const parts = listOf(message, 'parts')
  if (parts.some(isOldPart)) return 'vercel'
  if (parts.some(isNewPart)) return 'ui'
  if (Array.isArray(message.toolCalls) || Array.isArray(message.tool_calls)) return 'commentary'
  return parts.length > 0 && textOf(message, 'content') === undefined ? 'ui' : 'vercel'
}

const isOldPart = (part: Json): boolean =>
  isJsonObject(part) &&
  (part.type === 'tool-invocation' ||
    part.type === 'source' ||
    (part.type === 'reasoning' && typeof part.reasoning === 'string') ||
    (part.type === 'file' && typeof part.mimeType === 'string'))

const isNewPart = (part: Json): boolean =>
  isJsonObject(part) &&
  ('state' in part ||
    /^(?:tool-|data-|source-|dynamic-tool$|reasoning-file$|custom$)/.test(
      textOf(part, 'type') ?? '',
    ))
