import { isJsonObject, type JsonObject } from '../core/json.ts'
import { parseQueue } from '../core/queue.ts'
import type { ListedThread, ThreadRecord } from '../core/thread.ts'

/** A thread as a row of a database: its metadata is JSON text. */
export type ListedThreadRow = Omit<ListedThread, 'metadata'> & { readonly metadata: string }

/** The same with the inputs that wait, as JSON text. */
export type StoredThreadRow = ListedThreadRow & { readonly queue: string }

export const toListedThread = ({ metadata, ...thread }: ListedThreadRow): ListedThread => ({
  ...thread,
  metadata: parseMetadata(metadata),
})

export const toThreadRecord = ({ queue, ...thread }: StoredThreadRow): ThreadRecord => ({
  ...toListedThread(thread),
  queue: parseQueue(queue),
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
