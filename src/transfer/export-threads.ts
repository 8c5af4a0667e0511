import { HoldfastError } from '../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId, parseThreadId, type Seq, type ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { ListedThread } from '../core/thread.ts'
import type { Page, Store, ThreadList } from '../store/store.ts'
import { readHidden } from './export-versions.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { toIsoDate } from '../views/iso-date.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'

export const exportFormats = ['ui', 'vercel', 'entities', 'chat'] as const
/** How messages are written; `importThreads` reads each of them back. */
export type ExportFormat = (typeof exportFormats)[number]

/** What to export. */
export interface ExportQuery {
  /** One thread. @default all, of the owner if one is named */
  readonly threadId?: string
  /** Only what is this owner's. @default everybody's */
  readonly ownerId?: string
  /** @default 'ui' */
  readonly format?: ExportFormat
}

/** What a query asks for, as `exportThreads` writes it. */
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
  const thread = await store.readThread(parseThreadId(threadId))
  if (thread === null || (owner !== undefined && thread.ownerId !== owner)) {
    throw new HoldfastError('thread-not-found', 'There is no such thread.')
  }
  yield* exportThreads(store, [thread], format)
}

function all({ audit, kind }: Store): AsyncIterable<ListedThread> {
  if (audit !== undefined) return audit.listThreads()
  throw new HoldfastError('bad-request', `The store "${kind}" lists by owner: name one.`)
}

/** Each once, though threads move to the list's top while it is read. Ends with a look that finds nothing new. */
async function* ownedBy(store: Store, ownerId: OwnerId): AsyncGenerator<ListedThread> {
  const seen = new Set<ThreadId>()
  for (let isNews = true; isNews;) {
    isNews = false
    let before: number | null = null
    do {
      const page: ThreadList = await store.listThreads({ ownerId, limit: 200, before })
      for (const thread of page.threads) {
        if (seen.has(thread.id)) continue
        seen.add(thread.id)
        isNews = true
        yield thread
      }
      before = page.hasMore ? (page.threads.at(-1)?.activity ?? null) : null
    } while (before !== null)
  }
}

const pageSize = 50
const pageBytes = 1_048_576

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
      yield `${comma}\n${JSON.stringify(message)}`
      comma = ','
    }
    yield ']'
    if (format === 'ui') yield* exportHidden(store, id)
    yield '}'
    isFirst = false
  }
  yield '\n]}\n'
}

/** What is not shown of a thread, in a field beside its messages: those who know nothing of it pass it over. */
async function* exportHidden(store: Store, threadId: ThreadId): AsyncGenerator<string> {
  let isFirst = true
  for await (const { message, follows } of readHidden(store, threadId)) {
    const [shown] = project(message, 'ui')
    if (shown === undefined) continue
    yield `${isFirst ? ',"hiddenMessages":[' : ','}\n${JSON.stringify({ ...shown, follows })}`
    isFirst = false
  }
  if (!isFirst) yield ']'
}

/**
 * Oldest first, a bounded page at a time, so that an export costs what its largest message costs. What is added
 * meanwhile is left for the next export.
 */
async function* readForward(store: Store, threadId: ThreadId): AsyncGenerator<Message> {
  const thread = await store.readThread(threadId)
  if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
  for (let after: Seq | undefined = 0; after !== undefined;) {
    const page: Page | null = await store.readPage({
      threadId,
      limit: pageSize,
      before: after,
      order: 'oldest-first',
      live: 'include',
      results: 'full',
      maxBytes: pageBytes,
    })
    for (const message of page?.messages ?? []) if (message.seq <= thread.seq) yield message
    const last: Seq | undefined = page?.messages.at(-1)?.seq
    after = page?.hasMore === true && last !== undefined && last < thread.seq ? last : undefined
  }
}

function project(message: Message, format: ExportFormat): readonly object[] {
  switch (format) {
    case 'ui': {
      const shown = projectUiMessage(message, { sdk: 7 })
      // The format has no dates; one more field beside its own is passed over by those who know none.
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
