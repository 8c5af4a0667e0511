import { HoldfastError } from '../core/holdfast-error.ts'
import {
  type OwnerId,
  parseOwnerId,
  parseStoredThreadId,
  type Seq,
  type ThreadId,
} from '../core/ids.ts'
import { isTurn, type Message } from '../core/message.ts'
import type { ListedThread } from '../core/thread.ts'
import { isAnother } from '../core/thread-place.ts'
import type { Page, Store, ThreadList } from '../store/store.ts'
import { toVersionId } from '../core/versions.ts'
import { readHidden } from './export-versions.ts'
import { bytesPerSlice, createPacer, type Pacer } from '../store/pacer.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { toIsoDate } from '../views/iso-date.ts'
import { projectQueue } from '../views/queue-view.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'

/** The formats that an export can write. */
export const exportFormats = ['ui', 'vercel', 'entities', 'chat'] as const
/** The formats of an export; `importThreads` reads each of them back. */
export type ExportFormat = (typeof exportFormats)[number]

/** What to export. */
export interface ExportQuery {
  /** One thread. @default all, of the owner if one is given */
  readonly threadId?: string
  /** Only the threads of this owner. @default of all owners */
  readonly ownerId?: string
  /** @default 'ui' */
  readonly format?: ExportFormat
}

/** The threads of a query, as `exportThreads` writes them. */
export async function* exportQuery(store: Store, query: ExportQuery): AsyncGenerator<string, void> {
  const { threadId, ownerId, format = 'ui' } = query
  if (!exportFormats.includes(format)) {
    throw new HoldfastError('bad-request', `"format" is one of ${exportFormats.join(', ')}.`)
  }
  const owner = ownerId === undefined ? undefined : parseOwnerId(ownerId)
  if (threadId === undefined) {
    yield* exportThreads(store, owner === undefined ? all(store) : ownedBy(store, owner), format)
    return
  }
  const thread = await store.readThread(parseStoredThreadId(threadId))
  if (thread === null || (owner !== undefined && thread.ownerId !== owner)) {
    throw new HoldfastError('thread-not-found', 'There is no such thread.')
  }
  yield* exportThreads(store, [thread], format)
}

function all({ audit, kind }: Store): AsyncIterable<ListedThread> {
  if (audit !== undefined) return audit.listThreads()
  throw new HoldfastError('bad-request', `The store "${kind}" lists by owner: name one.`)
}

/**
 * Each thread once, although threads move to the top of the list while it is read. Ends with a pass that
 * finds no new thread.
 */
async function* ownedBy(store: Store, ownerId: OwnerId): AsyncGenerator<ListedThread> {
  const seen = new Set<ThreadId>()
  for (let foundNew = true; foundNew;) {
    foundNew = false
    let before: number | null = null
    do {
      const page: ThreadList = await store.listThreads({ ownerId, limit: 200, before })
      for (const thread of page.threads) {
        if (seen.has(thread.id)) continue
        seen.add(thread.id)
        foundNew = true
        yield thread
      }
      before = page.hasMore ? (page.threads.at(-1)?.activity ?? null) : null
    } while (before !== null)
  }
}

const pageSize = 50

/** The messages of a thread in a format, oldest first, as `importThreads` reads them back. */
export async function* exportThread(
  store: Store,
  threadId: ThreadId,
  format: ExportFormat,
): AsyncGenerator<object> {
  for await (const message of readForward(store, threadId)) yield* project(message, format)
}

/** The same in the envelope of threads, as JSON text, piece by piece. */
export async function* exportThreads(
  store: Store,
  threads: AsyncIterable<ListedThread> | Iterable<ListedThread>,
  format: ExportFormat,
): AsyncGenerator<string> {
  const pace = createPacer()
  let isFirst = true
  yield '{"threads":['
  for await (const thread of threads) {
    const { id, title, metadata, createdAt, ownerId: owner } = thread
    const dates = { createdAt: toIsoDate(createdAt) }
    const own = {
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...(thread.pinned ? { pinned: true } : {}),
      ...(thread.archived ? { archived: true } : {}),
    }
    const head = JSON.stringify({ id, title, ...own, ...dates, owner, order: 'oldest-first' })
    yield `${isFirst ? '' : ','}\n${head.slice(0, -1)},"messages":[`
    let comma = ''
    for await (const message of exportThread(store, id, format)) {
      yield* toJsonPieces(`${comma}\n`, message, pace)
      comma = ','
    }
    yield ']'
    yield* exportHidden(store, id, format, pace)
    const { queue = [] } = (await store.readThread(id)) ?? {}
    if (queue.length > 0) yield `,"queuedMessages":${JSON.stringify(projectQueue(queue))}`
    yield '}'
    isFirst = false
  }
  yield '\n]}\n'
}

const pieceChars = 65_536

/**
 * The JSON of an object, in pieces if it is long: the results of a turn can be tens of megabytes, and serialized at once
 * they would block the event loop (OP7b).
 */
async function* toJsonPieces(before: string, value: object, pace: Pacer): AsyncGenerator<string> {
  let text = `${before}{`
  let comma = ''
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue
    text += `${comma}${JSON.stringify(name)}:`
    comma = ','
    if (!Array.isArray(field)) {
      text += JSON.stringify(field)
      continue
    }
    text += '['
    for (const [index, element] of (field as readonly unknown[]).entries()) {
      text += `${index === 0 ? '' : ','}${JSON.stringify(element) ?? 'null'}`
      if (text.length < pieceChars) continue
      yield text
      text = ''
      await pace()
    }
    text += ']'
  }
  yield `${text}}`
}

/**
 * What is not shown of a thread, in a field beside its messages, which older readers ignore. Where a format makes rows of
 * a message, each row has the version that it belongs to.
 */
async function* exportHidden(
  store: Store,
  threadId: ThreadId,
  format: ExportFormat,
  pace: Pacer,
): AsyncGenerator<string> {
  let before = ',"hiddenMessages":['
  for await (const { message, follows, nth, hiddenSeq } of readHidden(store, threadId)) {
    const place = { version: toVersionId(message.role, message), follows, nth, hiddenSeq }
    for (const shown of project(message, format)) {
      yield* toJsonPieces(`${before}\n`, { ...shown, ...place }, pace)
      before = ','
    }
  }
  if (before === ',') yield ']'
}

/**
 * Oldest first, in bounded pages, so that the memory of an export is bounded by its largest message. Messages
 * that are added meanwhile are left for the next export.
 */
async function* readForward(store: Store, threadId: ThreadId): AsyncGenerator<Message> {
  const thread = await store.readThread(threadId)
  if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
  let incarnation = ''
  for (let after: Seq | undefined = 0; after !== undefined;) {
    const page: Page | null = await store.readPage({
      threadId,
      limit: pageSize,
      before: after,
      order: 'oldest-first',
      live: 'include',
      results: 'full',
      maxBytes: bytesPerSlice,
    })
    const found = page?.place?.incarnation ?? ''
    // Of a thread that was deleted meanwhile there is no more, whatever has its id now.
    if (page === null || isAnother(incarnation, found)) return
    incarnation = found
    for (const message of page.messages) if (message.seq <= thread.seq) yield message
    const last: Seq | undefined = page.messages.at(-1)?.seq
    after = page.hasMore && last !== undefined && last < thread.seq ? last : undefined
  }
}

/** The place of a former note is for clients that have it; an import has none of them. */
function withoutFormerEnd(message: Message): Message {
  if (!isTurn(message)) return message
  const { continuedAfter: _, ...turn } = message
  return turn
}

function project(message: Message, format: ExportFormat): readonly object[] {
  switch (format) {
    case 'ui': {
      const shown = projectUiMessage(withoutFormerEnd(message), { sdk: 7, keys: 'all' })
      // The format has no dates; other readers ignore the additional field.
      return shown === null ? [] : [{ ...shown, createdAt: toIsoDate(message.createdAt) }]
    }
    case 'vercel':
      return [projectVercelMessage(message)].filter((shown) => shown !== null)
    case 'entities':
      return projectEntityRows(message)
    case 'chat':
      return [projectChatMessage(message)].filter((shown) => shown !== null)
  }
}
