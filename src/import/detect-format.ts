import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { callLists, listOf, partListOf, textOf } from './old-fields.ts'
import { hasStoredTools } from './ui-message.ts'

/** The formats of old messages that an import reads. */
export type LegacyFormat = 'ui' | 'vercel' | 'tools-used' | 'commentary' | 'entities'

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

/** Whether it is a row: that is told by one field, without a look at its parts. */
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
