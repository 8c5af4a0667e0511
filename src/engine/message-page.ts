import { setImmediate } from 'node:timers/promises'
import { assertNever } from '../core/assert-never.ts'
import type { Call } from '../core/call.ts'
import { fingerprint } from '../core/fingerprint.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toCallAddress } from '../protocol/addresses.ts'
import {
  parseLimit,
  parsePlaceCursor,
  type Place,
  type PlaceCursor,
  toPlaceCursor,
} from '../protocol/page-query.ts'
import { toPlaceText } from '../protocol/place-text.ts'
import { type ChatMessage, projectChatMessage } from '../views/chat-message.ts'
import {
  entityKindsOf,
  type EntityKind,
  type EntityRow,
  placeEntityRows,
  type PlacedRow,
  projectEntityRows,
} from '../views/entity-rows.ts'
import { toClientMessage } from '../views/client-turn.ts'
import { projectQueue, type ShownInput } from '../views/queue-view.ts'
import { projectUiMessage, type UiMessage } from '../views/ui-message.ts'
import type { ToolNames, UiOptions } from '../views/ui-part.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { projectVercelMessage, type VercelMessage } from '../views/vercel-message.ts'
import { createPageFiller, type PageSlice } from './page-filler.ts'
import {
  largestTurnBytes,
  type Page,
  type PageOrder,
  type ResultMode,
  type Store,
} from '../store/store.ts'

export const pageFormats = ['ui', 'vercel', 'entities', 'chat', 'ledger'] as const
/**
 * How messages are shown: `ui` (AI SDK 5 to 7), `vercel` (AI SDK 4), `entities` (rows), `chat` (text with its calls),
 * `ledger` (the fold itself, for clients that run it too).
 */
export type PageFormat = (typeof pageFormats)[number]

/** What a page of each format lists. */
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
  readonly cursor?: string
  readonly results?: ResultMode
  readonly live?: 'include' | 'exclude'
  readonly order?: PageOrder
  readonly sdk?: SdkVersion
  /** For `ui`: whether each tool part says the tool's name. */
  readonly toolNames?: ToolNames
  /** What the addresses of results that were left out begin with. */
  readonly basePath?: string
  /** The older query (FD8): only rows of these kinds, or messages that such a row is part of. */
  readonly older?: { readonly entities: readonly EntityKind[] | null }
}

type PageItem = PageItems[PageFormat]

export interface ReadMessagePage<Format extends PageFormat> {
  readonly ownerId: OwnerId
  readonly results: readonly PageItems[Format][]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly seq: Seq
  /** Where the thread stands, for `after` (OP6). */
  readonly place?: string
  readonly live: MessageId | null
  /** The inputs that wait for their turn (IN2). */
  readonly queue: readonly ShownInput[]
}

/** How many messages are read at once, at most: what shows nothing is passed over in such chunks. */
const mostAtOnce = 200

/**
 * One page of a thread in one format; null if there is no such thread. What a format or filter does
 * not show takes no room on a page, so it may take several reads to fill one, or to know that nothing
 * follows. It ends early, at a message, when it has enough bytes. `seq` is that of the first read: whoever follows from there misses nothing.
 */
export async function readMessagePage<Format extends PageFormat>(
  store: Store,
  query: MessagePageQuery<Format>,
): Promise<ReadMessagePage<Format> | null> {
  const { threadId, cursor, order = 'newest-first', older } = query
  const limit = parseLimit(query.limit)
  const list = listOf(query)
  const from = cursor === undefined ? null : parsePlaceCursor(list, cursor)
  const after = from?.place ?? null
  const counts = older !== undefined && query.format === 'entities' ? 'items' : 'slices'
  const filler = createPageFiller<PageItem>({ counts, limit, after, order })
  // A page is bounded in bytes too, and one turn of it by itself (OP7a).
  const results = query.results === 'lazy' ? 'lazy' : 'bounded'
  const unitsToRead = { threadId, order, results } as const
  let bytesLeft = largestTurnBytes

  let before = after === null ? null : boundOf(after, order)
  let size = older === undefined ? limit + 1 : Math.min(limit + 1, 25)
  let first: Page | undefined
  const ids = new Map<Seq, MessageId>()
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
      ids.set(message.seq, message.id)
      // It may have ended since the first read, which said that it was left out.
      if (message.id === live) continue
      const slices = slicesOf(message, query)
      isOpen = (order === 'newest-first' ? slices.toReversed() : slices).every(filler.add)
      if (!isOpen) break
    }
    const isCut = page.hasMore && page.messages.length < size
    bytesLeft = Math.max(1, bytesLeft - (page.bytes ?? 0))
    // What follows is looked for, and not put on this page.
    if ((isCut || bytesLeft === 1) && filler.items.length > 0) filler.fill()
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) break
    size = Math.min(mostAtOnce, size * 2)
    // A store may answer without waiting: a long search over what shows nothing must let others work.
    if (isOpen) await setImmediate()
  }
  if (first === undefined) return null
  const { items, next } = filler
  return {
    ownerId: first.ownerId,
    // `project` makes items of the query's own format alone.
    results: items as readonly PageItems[Format][],
    nextCursor: next === null ? null : toPlaceCursor(list, withHistory(next, first, ids)),
    hasMore: next !== null,
    seq: first.seq,
    ...(first.place === undefined ? {} : { place: toPlaceText(first.place) }),
    live,
    queue: projectQueue(first.queue),
  }
}

/** A cursor says in which history it was given, and at which message: a seq alone may be of another (OP6). */
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

/** A cursor is good for one list: this thread in this order, and in the older query with this filter. */
function listOf({ threadId, order = 'newest-first', older, format }: MessagePageQuery): string {
  const list = order === 'newest-first' ? threadId : `${threadId} ${order}`
  if (older === undefined) return list
  return `${list} older ${format} ${older.entities?.toSorted().join(',') ?? 'all'}`
}

/** The messages to read begin behind the cursor's own, or with it where only a part of it was shown. */
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
  // Only where both are shown is there a call that its results must not be parted from.
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

/** A message as a page of this format has it: one item or none, or its rows. */
export function projectMessage<Format extends PageFormat>(
  message: Message,
  format: Format,
  options: UiOptions,
): readonly PageItems[Format][] {
  // Each case makes items of its own format alone.
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
