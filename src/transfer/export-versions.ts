import { toUserMessage } from '../core/fold-thread.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { toVersionId } from '../core/versions.ts'
import type { Changes, Store, StoredChange } from '../store/store.ts'

/** A message that is kept and not shown (VR1), with the version that it followed; null: it began the thread. */
export interface HiddenMessage {
  readonly message: Message
  readonly follows: string | null
}

const atOnce = 200
const bytesAtOnce = 1_048_576

/**
 * Every version of a thread that is not shown, in the order of making. The history is read twice, in bounded pieces: what
 * is hidden is known only at its end, and no more than the places of messages is held.
 */
export async function* readHidden(
  store: Store,
  threadId: ThreadId,
): AsyncGenerator<HiddenMessage, void> {
  const parents = new Map<Seq, Seq>()
  const hidden = new Set<Seq>()
  const ids = new Map<Seq, string>()
  for await (const change of readHistory(store, threadId)) {
    const message = messageOf(change)
    if (message !== null) ids.set(message.seq, toVersionId(message.role, message))
    if (change.kind !== 'event') continue
    const { event } = change
    if (event.type === 'messages-shown') for (const place of event.places) hidden.delete(place)
    if (event.type !== 'messages-retired' || event.kept === undefined) continue
    const { after, places } = event.kept
    for (const [nth, place] of places.entries()) {
      hidden.add(place)
      parents.set(place, places[nth - 1] ?? after)
    }
  }
  if (hidden.size === 0) return
  for await (const change of readHistory(store, threadId)) {
    const message = messageOf(change)
    if (message === null || !hidden.delete(message.seq)) continue
    yield { message, follows: ids.get(parents.get(message.seq) ?? 0) ?? null }
  }
}

/** What was hidden has ended: its message, or its turn as one state. */
function messageOf(change: StoredChange): Message | null {
  if (change.kind === 'turn') return change.turn
  return change.event.type === 'message-added' ? toUserMessage(change.event) : null
}

async function* readHistory(store: Store, threadId: ThreadId): AsyncGenerator<StoredChange, void> {
  const query = { threadId, limit: atOnce, results: 'full', maxBytes: bytesAtOnce } as const
  for (let after: Seq = 0; ;) {
    const read: Changes | null = await store.readChanges({ ...query, after })
    if (read === null) return
    yield* read.changes
    if (read.reached >= read.seq || read.reached <= after) return
    after = read.reached
  }
}
