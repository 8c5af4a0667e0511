import { HoldfastError } from '../core/holdfast-error.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { NamedMessage } from '../import/import-units.ts'
import { isImported } from '../import/turn-events.ts'
import { isAnother } from '../core/thread-place.ts'
import type { Store } from '../store/store.ts'
import { bytesPerSlice, type Pacer } from '../store/pacer.ts'

/** A reader that is further back than an older rewrite also needs the ids that the older one removed. */
export async function readRetired(
  store: Store,
  threadId: ThreadId,
  from: Seq,
  pace: Pacer,
): Promise<readonly MessageId[]> {
  const retired: MessageId[] = []
  const query = { threadId, limit: 1_000, results: 'lazy', maxBytes: bytesPerSlice } as const
  for (let after = from - 1; ;) {
    await pace()
    const read = await store.readChanges({ ...query, after })
    if (read === null) return retired
    for (const change of read.changes) {
      if (change.kind !== 'event' || change.event.type !== 'messages-retired') continue
      for (const id of change.event.messageIds) retired.push(id)
    }
    // A read that is cut by its bytes has fewer changes than its limit: only `reached` tells whether it was the last.
    if (read.reached >= read.seq || read.reached <= after) return retired
    after = read.reached
  }
}

/** A thread as the store has it. */
export interface StoredThread {
  readonly seq: Seq
  /** Empty: not known (OP6). */
  readonly incarnation: string
  /** Oldest first. */
  readonly messages: readonly Message[]
}

/** The whole thread, in pages between which other work runs. */
export async function readAll(
  store: Store,
  threadId: ThreadId,
  pace: Pacer,
): Promise<StoredThread> {
  const messages: Message[] = []
  let before: Seq | null = null
  let seq: Seq = 0
  let incarnation = ''
  for (;;) {
    await pace()
    const query = { threadId, limit: 20, before, live: 'include', results: 'full' } as const
    const page = await store.readPage({ ...query, maxBytes: bytesPerSlice })
    const { incarnation: found = '' } = page?.place ?? {}
    // Of a thread that was deleted and created again meanwhile, the rest is another one.
    if (page === null || isAnother(incarnation, found)) {
      throw new HoldfastError('thread-not-found', 'There is no such thread.')
    }
    incarnation = found
    if (before === null) seq = page.seq
    for (const message of page.messages) messages.push(message)
    before = page.messages.at(-1)?.seq ?? null
    if (!page.hasMore || before === null) {
      return { seq, incarnation, messages: messages.toReversed() }
    }
  }
}

/** Messages that are in the ledger and not shown: a person has taken them back, or shows another version. */
export async function findHidden(
  store: Store,
  threadId: ThreadId,
  shown: readonly Message[],
  named: readonly NamedMessage[],
  pace: Pacer,
): Promise<ReadonlySet<MessageId>> {
  const known = new Set<string>(shown.map(({ id }) => id))
  const hidden = new Set<MessageId>()
  // What was imported, and of which there is one version, is never hidden.
  if (shown.every((message) => isImported(message) && message.versions === undefined)) return hidden
  for (const { id } of named) {
    if (known.has(id)) continue
    await pace()
    if ((await store.readMessage(threadId, id)) !== null) hidden.add(id)
  }
  return hidden
}
