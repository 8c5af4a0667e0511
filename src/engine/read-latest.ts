import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { Store } from '../store/store.ts'

/**
 * The newest messages of a thread down to the one that fits, newest first, and the seq that the newest
 * were read at. `isOneRead` is false if somebody wrote between two pages of it; `isWhole` is true if
 * this is all of the thread.
 */
export async function readDownTo(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
  /** Whether there can be one at all: if not, the first page is enough, however long the thread is. */
  exists: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<{
  readonly seq: Seq
  readonly messages: readonly Message[]
  readonly found: boolean
  readonly isOneRead: boolean
  readonly isWhole: boolean
} | null> {
  const messages: Message[] = []
  let seq: Seq | null = null
  let before: Seq | null = null
  let isOneRead = true
  while (true) {
    const limit = before === null ? 4 : 100
    const page = await store.readPage({ threadId, limit, before, live: 'include', results: 'full' })
    if (page === null) return null
    seq ??= page.seq
    isOneRead &&= page.seq === seq
    for (const message of page.messages) {
      messages.push(message)
      if (fits(message)) return { seq, messages, found: true, isOneRead, isWhole: false }
    }
    const isFirst = before === null
    before = page.messages.at(-1)?.seq ?? null
    const isOver = !page.hasMore || before === null || (isFirst && !(await exists()))
    if (isOver) return { seq, messages, found: false, isOneRead, isWhole: !page.hasMore }
  }
}

export interface Latest {
  readonly seq: Seq
  readonly last: Message | undefined
}

export async function readLatest(store: Store, threadId: ThreadId): Promise<Latest | null> {
  const found = await readDownTo(store, threadId, () => true)
  return found === null ? null : { seq: found.seq, last: found.messages[0] }
}

export const isReplyTo =
  (id: MessageId) =>
  (message: Message): boolean =>
    message.role === 'assistant' && message.replyTo === id
