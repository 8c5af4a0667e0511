import { isJsonObject, type JsonObject } from '../core/json.ts'
import { parseQueue } from '../core/queue.ts'
import type { ForkOrigin, ListedThread, ThreadRecord } from '../core/thread.ts'
import { withDefined } from '../core/with-defined.ts'
import { parseStoredJson } from './stored-output.ts'

/** A thread as a row of a database: its metadata and its origin are JSON text. */
export type ListedThreadRow = Omit<ListedThread, 'metadata' | 'forkedFrom'> & {
  readonly metadata: string
  readonly forkedFrom: string | null
}

/** The same with the inputs that wait, as JSON text. */
export type StoredThreadRow = ListedThreadRow & { readonly queue: string }

export const toListedThread = ({
  metadata,
  forkedFrom,
  ...thread
}: ListedThreadRow): ListedThread =>
  withDefined(
    { ...thread, metadata: parseMetadata(metadata) },
    { forkedFrom: parseFork(forkedFrom) },
  )

export const toForkText = (from: ForkOrigin | null): string | null =>
  from === null ? null : JSON.stringify({ threadId: from.threadId, messageId: from.messageId })

function parseFork(text: string | null): ForkOrigin | undefined {
  const value = text === null ? undefined : parseStoredJson(text)
  if (!isJsonObject(value)) return undefined
  const { threadId, messageId } = value
  return typeof threadId === 'string' && typeof messageId === 'string'
    ? { threadId, messageId }
    : undefined
}

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
