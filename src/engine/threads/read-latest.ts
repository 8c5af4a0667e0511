import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { MessageVersion } from '../../core/versions.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import type { Page, ResultMode, Store } from '../../store/store.ts'
import { isOther } from '../thread-scope.ts'
import { longEditMessages } from './long-edits.ts'

/** What `readDownTo` has read. */
export interface ReadDown {
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation?: string
  /** The queued inputs at `seq`. */
  readonly queue: InputQueue
  /** The newest messages, newest first: no further than the one that fits, and only some of a long thread. */
  readonly newest: readonly Message[]
  /** Whether `newest` is the whole thread. */
  readonly isWhole: boolean
  /** All messages down to the one that fits, newest first. */
  readonly path: readonly MessageVersion[]
  /** The message that fits, and the one that follows it. */
  readonly found: { readonly message: Message; readonly next: Message | undefined } | null
  /** The seq of the message before the one that fits; 0: there is none. */
  readonly after: Seq
  /** False: the thread changed before `after` was read. */
  readonly isOneRead: boolean
}

export interface ReadDownOptions {
  /** Of another owner's thread only the first page is read: how long it is must not show (HT2). @default any owner */
  readonly ownedBy?: string | undefined
  /** Whether there can be such a message at all: if not, the first page is enough, however long the thread is. */
  readonly exists?: () => Promise<boolean>
  /** Waited for once, before more than so many messages are read. */
  readonly onLong?: (ownerId: OwnerId) => Promise<void>
}

/**
 * Reads from the newest message of a thread down to the one that fits, without large results. What is between them is
 * read for its ids alone, and not kept: it may be a whole long thread (OP7). `stale`: the thread changed between two pages.
 */
export async function readDownTo(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
  { ownedBy, exists = async () => true, onLong }: ReadDownOptions = {},
): Promise<ReadDown | 'stale' | null> {
  const path: MessageVersion[] = []
  const newest: Message[] = []
  let first: Page | null = null
  let previous: Message | undefined
  let isLong = false
  for (let before: Seq | null = null; ;) {
    const page: Page | null = await store.readPage({
      ...{ threadId, before, limit: before === null ? 4 : 100, maxBytes: bytesPerSlice },
      // Only ids and states are needed, not results: a call that has ended is not written again.
      ...{ live: 'include', results: 'lazy' },
    })
    if (page === null) return null
    const isFirst = first === null
    first ??= page
    // What is planned on pages of two threads must not be stored in the second (OP6).
    if (!isSameRead(first, page)) return 'stale'
    const { ownerId, seq, queue, place } = first
    const head = withDefined(
      { ownerId, seq, queue, newest, path },
      { incarnation: place?.incarnation },
    )
    if (isOther(ownerId, ownedBy)) {
      return { ...head, found: null, isOneRead: true, isWhole: false, after: 0 }
    }
    for (const [index, message] of page.messages.entries()) {
      path.push({ id: message.id, seq: message.seq })
      if (isFirst) newest.push(message)
      if (fits(message)) {
        const earlier = page.messages[index + 1]
        const isLast = earlier === undefined && page.hasMore
        const rest = isLast ? await readBefore(store, threadId, message.seq) : null
        const isOneRead = rest === null || isSameRead(first, rest)
        const after = earlier?.seq ?? rest?.messages[0]?.seq ?? 0
        const found = { message, next: previous }
        return { ...head, found, isOneRead, isWhole: false, after }
      }
      previous = message
    }
    before = page.messages.at(-1)?.seq ?? null
    const isOver = !page.hasMore || before === null || (isFirst && !(await exists()))
    if (isOver) {
      const isWhole = isFirst && !page.hasMore
      return { ...head, found: null, isOneRead: true, isWhole, after: 0 }
    }
    if (isLong || path.length <= longEditMessages) continue
    isLong = true
    await onLong?.(ownerId)
  }
}

const isSameRead = (one: Page, other: Page): boolean =>
  one.seq === other.seq && one.place?.incarnation === other.place?.incarnation

const readBefore = (store: Store, threadId: ThreadId, before: Seq) =>
  store.readPage({ threadId, limit: 1, before, live: 'include', results: 'lazy', maxBytes: 1 })

export interface Latest {
  readonly ownerId: OwnerId
  readonly seq: Seq
  /** The incarnation of the thread (OP6). */
  readonly incarnation: string | undefined
  readonly last: Message | undefined
  readonly queue: InputQueue
}

/** `results`: `lazy` if only ids and states are needed; continuing a turn needs all of it. */
export async function readLatest(
  store: Store,
  threadId: ThreadId,
  results: ResultMode,
): Promise<Latest | null> {
  const page = await store.readPage({ threadId, limit: 1, before: null, live: 'include', results })
  if (page === null) return null
  const { ownerId, seq, queue, place } = page
  return { ownerId, seq, incarnation: place?.incarnation, queue, last: page.messages[0] }
}

export const isReplyTo =
  (id: MessageId) =>
  (message: Message): boolean =>
    message.role === 'assistant' && message.replyTo === id
