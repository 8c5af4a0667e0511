import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { ResultMode, Store } from '../../store/store.ts'

/** About the most bytes of one read, beside the newest message itself. */
const leanBytes = 262_144

/**
 * The newest messages of a thread down to the one that fits, newest first, without large results, and the seq at which
 * the newest were read. `isOneRead` is false if the thread changed between two pages; `isWhole` is true if this is the
 * whole thread.
 */
export async function readDownTo(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
  /** Whether there can be such a message at all: if not, the first page is enough, however long the thread is. */
  exists: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<{
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly incarnation?: string
  readonly messages: readonly Message[]
  /** The queued inputs at `seq`. */
  readonly queue: InputQueue
  readonly found: boolean
  readonly isOneRead: boolean
  readonly isWhole: boolean
  /** The seq of the message before the one that fits; 0: there is none. */
  readonly after: Seq
} | null> {
  const messages: Message[] = []
  let seq: Seq | null = null
  let incarnation: string | undefined
  let queue: InputQueue = []
  let before: Seq | null = null
  let isOneRead = true
  while (true) {
    const limit = before === null ? 4 : 100
    // Only ids and states are needed, not results: a call that has ended is not written again.
    const page = await store.readPage({
      threadId,
      limit,
      before,
      live: 'include',
      results: 'lazy',
      maxBytes: leanBytes,
    })
    if (page === null) return null
    const found = page.place?.incarnation
    // Those of the first page: what is planned on pages of two threads must not be stored in the second (OP6).
    if (seq === null) [seq, queue, incarnation] = [page.seq, page.queue, found]
    const { ownerId } = page
    const head = withDefined({ ownerId, seq, queue, messages }, { incarnation })
    isOneRead &&= page.seq === seq && found === incarnation
    for (const [index, message] of page.messages.entries()) {
      messages.push(message)
      if (!fits(message)) continue
      const next = page.messages[index + 1]
      const isLast = next === undefined && page.hasMore
      const rest = isLast ? await readBefore(store, threadId, message.seq) : null
      isOneRead &&= rest === null || (rest.seq === seq && rest.place?.incarnation === incarnation)
      const after = next?.seq ?? rest?.messages[0]?.seq ?? 0
      return { ...head, found: true, isOneRead, isWhole: false, after }
    }
    const isFirst = before === null
    before = page.messages.at(-1)?.seq ?? null
    const isOver = !page.hasMore || before === null || (isFirst && !(await exists()))
    if (isOver) return { ...head, found: false, isOneRead, isWhole: !page.hasMore, after: 0 }
  }
}

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
