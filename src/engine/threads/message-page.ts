import { setImmediate } from 'node:timers/promises'
import { assertNever } from '../../core/assert-never.ts'
import type { Call } from '../../core/call.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { toCallAddress } from '../../protocol/addresses.ts'
import {
  parseLimit,
  parsePlaceCursor,
  type Place,
  type PlaceCursor,
  toPlaceCursor,
  withCursor,
} from '../../protocol/page-query.ts'
import { toPlaceText } from '../../protocol/place-text.ts'
import { type ChatMessage, projectChatMessage } from '../../views/chat-message.ts'
import {
  entityKindsOf,
  type EntityKind,
  type EntityRow,
  placeEntityRows,
  type PlacedRow,
  projectEntityRows,
} from '../../views/entity-rows.ts'
import { toClientMessage } from '../../views/client-turn.ts'
import { projectQueue, type ShownInput } from '../../views/queue-view.ts'
import { projectUiMessage, type UiMessage } from '../../views/ui-message.ts'
import type { ToolNames, UiOptions } from '../../views/ui-part.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { projectVercelMessage, type VercelMessage } from '../../views/vercel-message.ts'
import { createPacer } from '../../store/pacer.ts'
import { createPageFiller, type PageSlice } from './page-filler.ts'
import {
  largestTurnBytes,
  type Page,
  type PageOrder,
  type ResultMode,
  type Store,
} from '../../store/store.ts'

/** The values of `format` in a query of messages. */
export const pageFormats = ['ui', 'vercel', 'entities', 'chat', 'ledger'] as const
/**
 * How messages are represented: `ui` (AI SDK 5 to 7), `vercel` (AI SDK 4), `entities` (rows), `chat` (text with its
 * calls), `ledger` (the fold itself, for clients that run it too).
 */
export type PageFormat = (typeof pageFormats)[number]

/** The item type of a page in each format. */
export interface PageItems {
  readonly ui: UiMessage
  readonly vercel: VercelMessage
  readonly entities: EntityRow
  readonly chat: ChatMessage
  readonly ledger: Message
}

export interface MessagePageQuery<Format extends PageFormat = PageFormat> {
  readonly threadId: ThreadId
  readonly format: Format
  readonly limit: number
  readonly cursor?: string | null
  readonly results?: ResultMode
  readonly live?: 'include' | 'exclude'
  readonly order?: PageOrder
  readonly sdk?: SdkVersion
  /** For `ui`: whether each tool part has the tool's name. */
  readonly toolNames?: ToolNames
  /** The prefix of the addresses of results that were left out. */
  readonly basePath?: string
  /** The older query (FD8): only rows of these kinds, or messages that contain such a row. */
  readonly older?: { readonly entities: readonly EntityKind[] | null }
}

type PageItem = PageItems[PageFormat]

export interface ReadMessagePage<Format extends PageFormat> {
  readonly ownerId: OwnerId
  readonly results: readonly PageItems[Format][]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly seq: Seq
  /** The thread's place, for `after` (OP6). */
  readonly place?: string
  readonly live: MessageId | null
  /** The queued inputs (IN2). */
  readonly queue: readonly ShownInput[]
}

/** The most messages read at once: messages that show nothing are skipped in chunks of this size. */
const mostAtOnce = 200

/**
 * One page of a thread in one format; null if there is no such thread. Messages that a format or filter does not show
 * do not count, so it may take several reads to fill a page, or to learn that nothing follows. A page ends early, at a
 * message, when it has enough bytes. `seq` is that of the first read: a client that follows from there misses nothing.
 */
export async function readMessagePage<Format extends PageFormat>(
  store: Store,
  query: MessagePageQuery<Format>,
): Promise<ReadMessagePage<Format> | null> {
  const { threadId, cursor, order = 'newest-first', older } = query
  const limit = parseLimit(query.limit)
  const list = listOf(query)
  const from = withCursor(cursor, (given) => parsePlaceCursor(list, given))
  const after = from?.place ?? null
  const counts = older !== undefined && query.format === 'entities' ? 'items' : 'slices'
  const filler = createPageFiller<PageItem>({ counts, limit, after, order })
  // A page is bounded in bytes too, and one turn in it separately (OP7a).
  const results = query.results === 'lazy' ? 'lazy' : 'bounded'
  const unitsToRead = { threadId, order, results } as const
  let bytesLeft = largestTurnBytes

  let before = after === null ? null : boundOf(after, order)
  let size = older === undefined ? limit + 1 : Math.min(limit + 1, 25)
  let first: Page | undefined
  const ids = new Map<Seq, MessageId>()
  const pace = createPacer()
  let live: MessageId | null = null
  for (let isOpen = true; isOpen;) {
    const page = await store.readPage({
      ...unitsToRead,
      limit: size,
      before,
      ...(first === undefined && after?.[0] !== undefined ? { edge: after[0] } : {}),
      live: query.live ?? 'include',
      maxBytes: bytesLeft,
    })
    if (page === null) return null
    if (first === undefined && isElsewhere(from?.history, page)) throw otherHistory()
    first ??= page
    if (query.live === 'exclude') live ??= page.live
    for (const message of page.messages) {
      const pause = pace()
      if (pause !== undefined) await pause
      ids.set(message.seq, message.id)
      // The live turn may have ended since the first read, which reported it as left out.
      if (message.id === live) continue
      const slices = slicesOf(message, query)
      isOpen = (order === 'newest-first' ? slices.toReversed() : slices).every(filler.add)
      if (!isOpen) break
    }
    const isCut = page.hasMore && page.messages.length < size
    bytesLeft = Math.max(1, bytesLeft - (page.bytes ?? 0))
    // The loop goes on only to learn whether something follows; it is not put on this page.
    if ((isCut || bytesLeft === 1) && filler.items.length > 0) filler.fill()
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) break
    size = Math.min(mostAtOnce, size * 2)
    // A store may respond synchronously: a long scan over messages that show nothing must yield to others.
    if (isOpen) await setImmediate()
  }
  if (first === undefined) return null
  const { items, next } = filler
  return {
    ownerId: first.ownerId,
    // `project` returns items of the query's format only.
    results: items as readonly PageItems[Format][],
    nextCursor: next === null ? null : toPlaceCursor(list, withHistory(next, first, ids)),
    hasMore: next !== null,
    seq: first.seq,
    ...(first.place === undefined ? {} : { place: toPlaceText(first.place) }),
    live,
    queue: projectQueue(first.queue),
  }
}

/** A cursor contains the history it belongs to, and its message: a seq alone may belong to another history (OP6). */
function withHistory(
  place: Place,
  { place: at }: Page,
  ids: ReadonlyMap<Seq, MessageId>,
): PlaceCursor {
  const id = ids.get(place[0] ?? 0)
  return at === undefined || id === undefined
    ? { place }
    : { place, history: `${at.incarnation}.${fingerprint(id)}` }
}

function isElsewhere(history: string | undefined, { place, edge }: Page): boolean {
  if (history === undefined || place === undefined) return false
  const [incarnation, id] = history.split('.')
  return incarnation !== place.incarnation || edge == null || fingerprint(edge) !== id
}

const otherHistory = (): HoldfastError =>
  new HoldfastError(
    'other-history',
    'This cursor belongs to a history that the thread no longer has. Start again without one.',
  )

/** A cursor is valid for one list: this thread in this order, and in the older query with this filter. */
function listOf({ threadId, order = 'newest-first', older, format }: MessagePageQuery): string {
  const list = order === 'newest-first' ? threadId : `${threadId} ${order}`
  if (older === undefined) return list
  return `${list} older ${format} ${older.entities?.toSorted().join(',') ?? 'all'}`
}

/** The read begins after the cursor's message, or with it where only a part of it was shown. */
function boundOf(after: Place, order: PageOrder): Seq {
  const [seq = 0, ...inside] = after
  if (inside.length === 0) return seq
  return order === 'newest-first' ? seq + 1 : seq - 1
}

/** Oldest first; the items of each slice in the page's order. */
function slicesOf(message: Message, query: MessagePageQuery): readonly PageSlice<PageItem>[] {
  const { order = 'newest-first', older, format } = query
  const inOrder = <Item>(items: readonly Item[]): readonly Item[] =>
    order === 'newest-first' ? items.toReversed() : items
  const entities = older?.entities ?? null
  if (older === undefined || format !== 'entities') {
    const isShown = entities === null || entities.some((kind) => entityKindsOf(message).has(kind))
    return [{ place: [message.seq], items: isShown ? inOrder(project(message, query)) : [] }]
  }
  const isWanted = (kind: EntityKind) => entities === null || entities.includes(kind)
  const rows = placeEntityRows(message, lazyOf(query)).filter(({ row }) => isWanted(row.entity))
  // Calls and results are kept together only where both are shown.
  const groups =
    isWanted('AI_TOOL') && isWanted('TOOL') ? groupBySteps(rows) : rows.map((row) => [row])
  return groups.map((group) => ({
    place: [message.seq, group[0]?.step ?? 0, group[0]?.place ?? 0],
    items: inOrder(group.map(({ row }) => row)),
  }))
}

function groupBySteps(rows: readonly PlacedRow[]): readonly (readonly PlacedRow[])[] {
  const steps = new Map<number, PlacedRow[]>()
  for (const row of rows) {
    const group = steps.get(row.step)
    if (group === undefined) steps.set(row.step, [row])
    else group.push(row)
  }
  return [...steps.values()]
}

function project(message: Message, query: MessagePageQuery): readonly PageItem[] {
  const { format, sdk, toolNames } = query
  return projectMessage(message, format, withDefined(lazyOf(query), { sdk, toolNames }))
}

/** A message as a page of this format contains it: one item or none, or its rows. */
export function projectMessage<Format extends PageFormat>(
  message: Message,
  format: Format,
  options: UiOptions,
): readonly PageItems[Format][] {
  // Each case returns items of its own format only.
  return projectAny(message, format, options) as readonly PageItems[Format][]
}

function projectAny(message: Message, format: PageFormat, options: UiOptions): readonly PageItem[] {
  const { lazyHref } = options
  const lazy = withDefined({}, { lazyHref })
  switch (format) {
    case 'ui':
      return present(projectUiMessage(message, options))
    case 'vercel':
      return present(projectVercelMessage(message, lazy))
    case 'chat':
      return present(projectChatMessage(message, lazy))
    case 'entities':
      return projectEntityRows(message, lazy)
    case 'ledger':
      return [toClientMessage(message)]
    default:
      return assertNever(format)
  }
}

const present = <Item>(item: Item | null): readonly Item[] => (item === null ? [] : [item])

const lazyOf = ({ threadId, basePath }: MessagePageQuery) => ({
  lazyHref: (call: Call) => toCallAddress(threadId, call.id, basePath),
})
