import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { parseCursor, toCursor } from '../paging/cursor.ts'
import { parseLimit } from '../paging/limit.ts'
import { type ChatMessage, projectChatMessage } from '../views/chat-message.ts'
import { type EntityRow, projectEntityRows } from '../views/entity-rows.ts'
import { projectUiMessage, type UiMessage } from '../views/ui-message.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { projectVercelMessage, type VercelMessage } from '../views/vercel-message.ts'
import type { PageOrder, ResultMode, Store } from './store.ts'

/** `ledger`: the fold itself, for clients that run it too. */
export const pageFormats = ['ui', 'vercel', 'entities', 'chat', 'ledger'] as const
export type PageFormat = (typeof pageFormats)[number]

export interface MessagePageQuery {
  readonly threadId: ThreadId
  readonly format: PageFormat
  readonly limit: number
  readonly cursor?: string
  readonly results?: ResultMode
  readonly live?: 'include' | 'exclude'
  readonly order?: PageOrder
  readonly sdk?: SdkVersion
}

export interface MessagePage {
  readonly results: readonly (UiMessage | VercelMessage | EntityRow | ChatMessage | Message)[]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly seq: Seq
  readonly live: MessageId | null
}

/** One page of a thread in one format; null if there is no such thread. */
export async function readMessagePage(
  store: Store,
  query: MessagePageQuery,
): Promise<MessagePage | null> {
  const { threadId, cursor, order = 'newest-first' } = query
  const list = order === 'newest-first' ? threadId : `${threadId} ${order}`
  const page = await store.readPage({
    threadId,
    limit: parseLimit(query.limit),
    before: cursor === undefined ? null : parseCursor(list, cursor),
    live: query.live ?? 'include',
    results: query.results ?? 'full',
    order,
  })
  if (page === null) return null
  const last = page.messages.at(-1)
  const rows = page.messages.map((message) => project(message, query))
  return {
    // Within a turn, rows are made oldest first; the page is read in its own order.
    results: rows.flatMap((each) => (order === 'newest-first' ? each.toReversed() : each)),
    nextCursor: page.hasMore && last !== undefined ? toCursor(list, last.seq) : null,
    hasMore: page.hasMore,
    seq: page.seq,
    live: page.live,
  }
}

function project(
  message: Message,
  { format, threadId, sdk }: MessagePageQuery,
): readonly MessagePage['results'][number][] {
  const lazyHref = (call: Call) => callHref(threadId, call)
  switch (format) {
    case 'ui':
      return present(
        projectUiMessage(message, sdk === undefined ? { lazyHref } : { lazyHref, sdk }),
      )
    case 'vercel':
      return present(projectVercelMessage(message, { lazyHref }))
    case 'chat':
      return present(projectChatMessage(message, { lazyHref }))
    case 'entities':
      return projectEntityRows(message, { lazyHref })
    case 'ledger':
      return [message]
    default:
      return assertNever(format)
  }
}

const present = <Item>(item: Item | null): readonly Item[] => (item === null ? [] : [item])

/** Where a result that was left out can be fetched. */
export const callHref = (threadId: ThreadId, call: Call): string =>
  `/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(call.id)}`

export function parsePageFormat(value: string): PageFormat {
  const format = pageFormats.find((known) => known === value)
  if (format !== undefined) return format
  throw new HoldfastError('bad-request', `"format" is one of ${pageFormats.join(', ')}.`)
}
