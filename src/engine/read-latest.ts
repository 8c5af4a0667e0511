import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { Store } from '../store/store.ts'

/**
 * The newest messages of a thread down to the one that fits, newest first, and the seq that the newest
 * were read at. `isOneRead` is false if somebody wrote between two pages of it.
 */
export async function readDownTo(
  store: Store,
  threadId: ThreadId,
  fits: (message: Message) => boolean,
): Promise<{
  readonly seq: Seq
  readonly messages: readonly Message[]
  readonly found: boolean
  readonly isOneRead: boolean
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
      if (fits(message)) return { seq, messages, found: true, isOneRead }
    }
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) return { seq, messages, found: false, isOneRead }
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
