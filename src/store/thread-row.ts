import { isJsonObject, type JsonObject } from '../core/json.ts'
import type { ThreadRecord } from '../core/thread.ts'

/** A thread as a row of a database: its metadata is JSON text. */
export type StoredThreadRow = Omit<ThreadRecord, 'metadata'> & { readonly metadata: string }

export const toThreadRecord = ({ metadata, ...thread }: StoredThreadRow): ThreadRecord => ({
  ...thread,
  metadata: parseMetadata(metadata),
})

/** What cannot be read counts as none: a damaged note of the host's must not hide the thread (LG7). */
function parseMetadata(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    // Not JSON: see above.
    return {}
  }
}

/** The text by which two metadata are compared, and that is stored. */
export const toMetadataText = (metadata: JsonObject): string => JSON.stringify(metadata)
