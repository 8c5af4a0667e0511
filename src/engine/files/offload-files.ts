import { toFileUrl } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Json } from '../../core/json.ts'
import type { TurnPlace } from '../call-scope.ts'
import type { EngineFiles } from './files.ts'

/**
 * A `data:` address with at least this many characters becomes a file: a smaller one is not worth a request of its own.
 */
const leastChars = 16_384

const isLargeData = (value: Json): value is string =>
  typeof value === 'string' && value.length >= leastChars && value.startsWith('data:')

/** Whether a result contains a file that belongs into the file store. */
export function hasLargeFile(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return isLargeData(value)
  return Object.values(value).some(hasLargeFile)
}

/**
 * Replaces large `data:` addresses in a value by files: an image that a tool generated is stored once, is not in every
 * page and prompt, and is shown by its address (FL1). What the file store refuses stays inline.
 */
export async function offloadFiles(
  files: EngineFiles,
  place: TurnPlace,
  value: Json,
): Promise<Json> {
  if (isLargeData(value)) return toStoredUrl(files, place, value)
  if (typeof value !== 'object' || value === null || !hasLargeFile(value)) return value
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value as readonly Json[]) items.push(await offloadFiles(files, place, item))
    return items
  }
  const entries: [string, Json][] = []
  for (const [name, item] of Object.entries(value)) {
    entries.push([name, await offloadFiles(files, place, item)])
  }
  // `__proto__` as a key is data here.
  return Object.fromEntries(entries)
}

/** The address of the file that a large `data:` address was stored as; otherwise the address unchanged. */
export async function toStoredUrl(
  files: EngineFiles,
  place: TurnPlace,
  url: string,
): Promise<string> {
  const [, mediaType = '', base64] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url) ?? []
  if (base64 === undefined || url.length < leastChars) return url
  try {
    const file = await files.keep(place, Buffer.from(base64, 'base64'), mediaType)
    return file === null ? url : toFileUrl(file.id)
  } catch (error) {
    if (error instanceof HoldfastError) return url
    throw error
  }
}
