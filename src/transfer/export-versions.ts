import { toUserMessage } from '../core/fold-thread.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { toVersionId } from '../core/versions.ts'
import { bytesPerSlice, createPacer } from '../store/pacer.ts'
import type { Changes, Store, StoredChange } from '../store/store.ts'

/** A message that is kept and not shown (VR1). */
export interface HiddenMessage {
  readonly message: Message
  /** The place of the message that it followed; 0: it began the thread. */
  readonly parent: Seq
  /** The version at that place. Null: there is none. */
  readonly follows: string | null
  /** Its number among the versions of it, in the order of making. */
  readonly nth: number
  /** The event that hid it: of those that followed one message, the last that was hidden comes back with it. */
  readonly hiddenSeq: Seq
}

const atOnce = 200

/**
 * Every hidden version of a thread, oldest first. The history is read twice, in bounded pieces: only its end
 * shows which messages are hidden, and only the seqs of messages are kept in between.
 */
export async function* readHidden(
  store: Store,
  threadId: ThreadId,
): AsyncGenerator<HiddenMessage, void> {
  const places = new Map<Seq, Pick<Message, 'id' | 'seq' | 'role'>>()
  const hidden = new Map<Seq, { readonly parent: Seq; readonly hiddenSeq: Seq }>()
  const withdrawn = new Set<string>()
  for await (const change of readHistory(store, threadId)) {
    const message = messageOf(change)
    if (message !== null) {
      const { id, seq, role } = message
      places.set(seq, { id, seq, role })
      withdrawn.delete(id)
    }
    if (change.kind !== 'event') continue
    const { event } = change
    if (event.type === 'messages-shown') for (const place of event.places) hidden.delete(place)
    if (event.type !== 'messages-retired') continue
    if (event.kept === undefined) for (const id of event.messageIds) withdrawn.add(id)
    const { after = 0, places: gone = [] } = event.kept ?? {}
    for (const [nth, place] of gone.entries()) {
      hidden.set(place, { parent: gone[nth - 1] ?? after, hiddenSeq: event.seq })
    }
  }
  if (hidden.size === 0) return
  const siblings = findSiblings(places, hidden, withdrawn)
  for await (const change of readHistory(store, threadId)) {
    const message = messageOf(change)
    const found = message === null ? undefined : hidden.get(message.seq)
    if (message === null || found === undefined) continue
    hidden.delete(message.seq)
    const above = places.get(found.parent)
    const follows = above === undefined ? null : toVersionId(above.role, above)
    const own = siblings.get(siblingKey(found.parent, message)) ?? []
    yield { ...found, message, follows, nth: Math.max(0, own.indexOf(message.seq)) }
  }
}

const siblingKey = (parent: Seq, { role }: Pick<Message, 'role'>): string => `${parent} ${role}`

/** The places of the messages of one role that follow one message, in the order of making: they are versions of each other. */
function findSiblings(
  places: ReadonlyMap<Seq, Pick<Message, 'id' | 'seq' | 'role'>>,
  hidden: ReadonlyMap<Seq, { readonly parent: Seq }>,
  withdrawn: ReadonlySet<string>,
): ReadonlyMap<string, readonly Seq[]> {
  const siblings = new Map<string, Seq[]>()
  let shown: Seq = 0
  for (const message of [...places.values()].toSorted((left, right) => left.seq - right.seq)) {
    const parent = hidden.get(message.seq)?.parent
    if (parent === undefined && withdrawn.has(message.id)) continue
    const key = siblingKey(parent ?? shown, message)
    if (parent === undefined) shown = message.seq
    const same = siblings.get(key)
    if (same === undefined) siblings.set(key, [message.seq])
    else same.push(message.seq)
  }
  return siblings
}

/** A hidden message has ended: it is one event, or its turn as one state. */
function messageOf(change: StoredChange): Message | null {
  if (change.kind === 'turn') return change.turn
  return change.event.type === 'message-added' ? toUserMessage(change.event) : null
}

async function* readHistory(store: Store, threadId: ThreadId): AsyncGenerator<StoredChange, void> {
  const query = { threadId, limit: atOnce, results: 'full', maxBytes: bytesPerSlice } as const
  // A history without hidden messages yields nothing to whoever would pause: so it pauses itself.
  const pace = createPacer()
  for (let after: Seq = 0; ;) {
    await pace()
    const read: Changes | null = await store.readChanges({ ...query, after })
    if (read === null) return
    yield* read.changes
    if (read.reached >= read.seq || read.reached <= after) return
    after = read.reached
  }
}
