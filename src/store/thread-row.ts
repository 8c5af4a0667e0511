import { isJsonObject, type JsonObject, parseJson } from '../core/json.ts'
import { parseQueue } from '../core/queue.ts'
import type { ForkOrigin, ListedThread, ThreadRecord, TitleGiver } from '../core/thread.ts'
import { withDefined } from '../core/with-defined.ts'
import type { PlannedCommit } from './plan-commit.ts'
import { createPacer } from './pacer.ts'
import type { NewThread, ThreadFilter, ThreadList } from './store.ts'

/** A thread as a row of a database: its metadata and its origin are JSON text. */
export type ListedThreadRow = Omit<
  ListedThread,
  'metadata' | 'forkedFrom' | 'titledBy' | 'pinned' | 'archived'
> & {
  readonly metadata: string
  readonly forkedFrom: string | null
  readonly titleNote: string | null
  /** SQLite has numbers in place of booleans. */
  readonly pinned: boolean | number
  readonly archived: boolean | number
}

/** The same with the waiting inputs, as JSON text. */
export type StoredThreadRow = ListedThreadRow & {
  readonly queue: string
  readonly incarnation: string
}

export const toListedThread = ({
  metadata,
  forkedFrom,
  titleNote,
  pinned,
  archived,
  ...thread
}: ListedThreadRow): ListedThread =>
  withDefined(
    {
      ...thread,
      titledBy: toTitleGiver(thread.title, titleNote),
      pinned: Boolean(pinned),
      archived: Boolean(archived),
      metadata: parseMetadata(metadata),
    },
    { forkedFrom: parseFork(forkedFrom) },
  )

/** A page of a list, in slices: metadata may be 200 times 16 kB (OP7). */
export async function toThreadList(
  rows: readonly ListedThreadRow[],
  limit: number,
): Promise<ThreadList> {
  const pace = createPacer()
  const threads: ListedThread[] = []
  for (const row of rows.slice(0, limit)) {
    threads.push(toListedThread(row))
    await pace()
  }
  return { threads, hasMore: rows.length > limit }
}

/**
 * Who set a title, where it was not a person: `nobody`, or a model. The note contains its title and holds for
 * no other: an older version renames a thread without writing the note, and that title is then a person's
 * (FK3).
 */
export function toTitleNote({
  title,
  isTitledByModel,
  append: { create },
}: Pick<PlannedCommit, 'title' | 'isTitledByModel' | 'append'>): string | null {
  if (title !== null) return isTitledByModel ? JSON.stringify({ by: 'model', title }) : null
  return create === undefined ? null : firstTitleNote(create)
}

/** The note of a thread that is created. */
export const firstTitleNote = ({ title, isPlaceholder }: FirstTitle): string | null =>
  isPlaceholder === true ? JSON.stringify({ by: 'nobody', title }) : null

type FirstTitle = Pick<NewThread, 'title' | 'isPlaceholder'>

/** The same for stores that keep the value itself. */
export const firstTitleGiver = ({ title, isPlaceholder }: FirstTitle): TitleGiver | null =>
  title === '' || isPlaceholder === true ? null : 'person'

/** Who set the title, after this commit. A thread of an older version has no `titledBy`. */
export function nextTitleGiver(
  thread: Pick<ThreadRecord, 'title'> & { readonly titledBy?: TitleGiver | null },
  { title, isTitledByModel }: Pick<PlannedCommit, 'title' | 'isTitledByModel'>,
): TitleGiver | null {
  if (title === null) {
    return thread.titledBy === undefined ? firstTitleGiver(thread) : thread.titledBy
  }
  if (title === '') return null
  return isTitledByModel ? 'model' : 'person'
}

/** See `toTitleNote`. */
function toTitleGiver(title: string, note: string | null): TitleGiver | null {
  if (title === '') return null
  const value = note === null ? undefined : parseJson(note)
  if (!isJsonObject(value) || value['title'] !== title) return 'person'
  return value['by'] === 'model' ? 'model' : null
}

export const toForkText = (from: ForkOrigin | null): string | null =>
  from === null ? null : JSON.stringify({ threadId: from.threadId, messageId: from.messageId })

function parseFork(text: string | null): ForkOrigin | undefined {
  const value = text === null ? undefined : parseJson(text)
  if (!isJsonObject(value)) return undefined
  const { threadId, messageId } = value
  return typeof threadId === 'string' && typeof messageId === 'string'
    ? { threadId, messageId }
    : undefined
}

export const toThreadRecord = ({
  queue,
  incarnation,
  ...thread
}: StoredThreadRow): ThreadRecord => ({
  ...toListedThread(thread),
  queue: parseQueue(queue),
  incarnation,
})

/** A text that cannot be parsed counts as empty metadata: a damaged column must not hide the thread (LG7). */
function parseMetadata(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    // Not JSON: empty, as above.
    return {}
  }
}

/** The text that is stored, and by which metadata are compared. */
export const toMetadataText = (metadata: JsonObject): string => JSON.stringify(metadata)

/** Whether a thread is in a list (FK2), for stores without an index. A thread of an older version has no flags. */
export const passesFilter = (
  { pinned, archived }: Partial<Pick<ListedThread, 'pinned' | 'archived'>>,
  filter: ThreadFilter | undefined,
): boolean =>
  filter === undefined ||
  ((archived ?? false) === filter.archived && (filter.pinned === undefined || pinned === true))
