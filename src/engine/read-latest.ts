import type { MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { ResultMode, Store } from '../store/store.ts'

/** About what one read costs at most, beside the newest message itself. */
const leanBytes = 262_144

/**
 * The newest messages of a thread down to the one that fits, newest first, without large results, and the
 * seq that the newest were read at. `isOneRead` is false if somebody wrote between two pages of it; `isWhole` is true if
 * this is all of the thread.
 */
export async function readDownTo(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
  /** Whether there can be one at all: if not, the first page is enough, however long the thread is. */
  exists: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<{
  readonly ownerId: OwnerId
  readonly seq: Seq
  readonly messages: readonly Message[]
  /** The inputs that wait at `seq`. */
  readonly queue: InputQueue
  readonly found: boolean
  readonly isOneRead: boolean
  readonly isWhole: boolean
  /** The place of the message before the one that fits; 0: there is none. */
  readonly after: Seq
} | null> {
  const messages: Message[] = []
  let seq: Seq | null = null
  let queue: InputQueue = []
  let before: Seq | null = null
  let isOneRead = true
  while (true) {
    const limit = before === null ? 4 : 100
    // Who is asked for, and in which state: results are not (a call that has ended is not written again).
    const page = await store.readPage({
      threadId,
      limit,
      before,
      live: 'include',
      results: 'lazy',
      maxBytes: leanBytes,
    })
    if (page === null) return null
    if (seq === null) ({ seq, queue } = page)
    const { ownerId } = page
    const head = { ownerId, seq, queue, messages }
    isOneRead &&= page.seq === seq
    for (const [index, message] of page.messages.entries()) {
      messages.push(message)
      if (!fits(message)) continue
      const next = page.messages[index + 1]
      const isLast = next === undefined && page.hasMore
      const rest = isLast ? await readBefore(store, threadId, message.seq) : null
      isOneRead &&= rest === null || rest.seq === seq
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
  readonly last: Message | undefined
  readonly queue: InputQueue
}

/** `results`: `lazy` where only who and in which state is asked; a turn that goes on needs all of it. */
export async function readLatest(
  store: Store,
  threadId: ThreadId,
  results: ResultMode,
): Promise<Latest | null> {
  const page = await store.readPage({ threadId, limit: 1, before: null, live: 'include', results })
  if (page === null) return null
  const { ownerId, seq, queue } = page
  return { ownerId, seq, queue, last: page.messages[0] }
}

export const isReplyTo =
  (id: MessageId) =>
  (message: Message): boolean =>
    message.role === 'assistant' && message.replyTo === id
