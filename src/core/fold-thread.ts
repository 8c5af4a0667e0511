import { assertNever } from './assert-never.ts'
import { beginsTurn, isTurnEvent, type LedgerEvent, type ThreadEvent } from './event.ts'
import { emptyTurn, foldTurn } from './fold-turn.ts'
import type { MessageId, Seq } from './ids.ts'
import type { Message, Turn, UserMessage } from './message.ts'
import { foldFlags } from './thread-flags.ts'
import { foldQueue, foldQueueChange, foldQueueEvents } from './queue.ts'
import type { InputQueue } from './queued-input.ts'
import { addVersion } from './versions.ts'
import { withDefined } from './with-defined.ts'

/** A change as a reader receives it: an event, or the whole state of a turn whose events have been snapshotted. */
export type Change =
  | { readonly kind: 'event'; readonly seq: Seq; readonly event: LedgerEvent }
  | { readonly kind: 'turn'; readonly seq: Seq; readonly turn: Turn }

/** What a follower of a thread holds: some run of its messages, oldest first, as of `seq`. */
export interface ThreadView {
  readonly seq: Seq
  readonly title?: string
  /** Absent: unknown to this follower (FK2). */
  readonly pinned?: boolean
  readonly archived?: boolean
  /** The first position that is held; earlier messages are not loaded. Absent: the thread's beginning. */
  readonly from?: Seq
  readonly messages: readonly Message[]
  /** The inputs that wait (IN2). Absent: none. */
  readonly queue?: InputQueue
  /**
   * The seq at which messages were shown again that this view does not hold: it is incomplete from there on,
   * and the follower has to read the thread again at this seq or later (VR2).
   */
  readonly outdatedAt?: Seq
}

/**
 * Brings a follower from the seq it has to the seq the changes reach. Turns are folded by `foldTurn` and by
 * nothing else; this only finds the message that a change belongs to.
 */
export function foldThread(view: ThreadView, changes: readonly Change[]): ThreadView {
  let next = view
  let index = 0
  while (index < changes.length) {
    const change = changes[index] as Change
    if (change.seq <= next.seq) {
      index++
      continue
    }
    if (change.kind === 'turn') {
      const isHeld = change.turn.seq >= (next.from ?? 0)
      const messages = isHeld ? putMessage(next.messages, change.turn) : next.messages
      next = withQueue(
        { ...next, seq: change.seq, messages },
        foldQueueChange(queueOf(next), change),
      )
      index++
      continue
    }
    if (!isTurnEvent(change.event)) {
      next = { ...applyThreadEvent(next, change.event), seq: change.seq }
      index++
      continue
    }
    const { turnId } = change.event
    const run = [change.event]
    for (index++; index < changes.length; index++) {
      const more = changes[index] as Change
      if (more.kind !== 'event' || !isTurnEvent(more.event) || more.event.turnId !== turnId) break
      run.push(more.event)
    }
    const first = run[0] as (typeof run)[number]
    const turn =
      next.messages.findLast((message): message is Turn => isTurnWithId(message, turnId)) ??
      // Events of a turn that the follower does not hold: the turn is earlier than what was loaded.
      (beginsTurn(first) ? emptyTurn(turnId, first.seq, first.at) : undefined)
    const seq = (run.at(-1) as (typeof run)[number]).seq
    const messages =
      turn === undefined ? next.messages : putMessage(next.messages, foldTurn(turn, run))
    next = withQueue({ ...next, seq, messages }, foldQueueEvents(queueOf(next), run))
  }
  return next
}

const queueOf = (view: ThreadView): InputQueue => view.queue ?? []

const withQueue = (view: ThreadView, queue: InputQueue): ThreadView =>
  queue === queueOf(view) || (queue.length === 0 && view.queue === undefined)
    ? view
    : { ...view, queue }

const isTurnWithId = (message: Message, id: MessageId): boolean =>
  message.role === 'assistant' && message.id === id

function applyThreadEvent(view: ThreadView, event: ThreadEvent): ThreadView {
  switch (event.type) {
    case 'message-added': {
      const messages = putMessage(view.messages, toUserMessage(event))
      // A view that has no `archived` flag stays without one: the message would make it `false` and pass for
      // known.
      const flags = view.archived === undefined ? {} : foldFlags(view, event)
      return withQueue({ ...view, ...flags, messages }, foldQueue(queueOf(view), event))
    }
    case 'messages-retired': {
      const gone = new Set(event.messageIds)
      const messages = view.messages.filter((message) => !gone.has(message.id))
      return withQueue({ ...view, messages }, foldQueue(queueOf(view), event))
    }
    case 'input-queued':
    case 'input-revised':
    case 'input-withdrawn':
    case 'queue-held':
    case 'queue-released':
      return withQueue(view, foldQueue(queueOf(view), event))
    case 'messages-shown':
      return { ...view, outdatedAt: event.seq }
    case 'thread-renamed':
      return { ...view, title: event.title }
    case 'thread-flagged':
      return { ...view, ...foldFlags(view, event) }
    // Changes the thread, and none of the messages held here.
    case 'thread-forked':
    case 'unreadable':
      return view
    default:
      return assertNever(event)
  }
}

export function toUserMessage(
  event: Extract<ThreadEvent, { readonly type: 'message-added' }>,
): UserMessage {
  const { messageId: id, seq } = event
  return withDefined(
    {
      role: event.role,
      id,
      seq,
      parts: event.parts,
      ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
      createdAt: event.at,
    },
    { versions: addVersion(event.versionOf, { id, seq }) },
  )
}

function putMessage(messages: readonly Message[], message: Message): readonly Message[] {
  const at = messages.findLastIndex((other) => other.seq <= message.seq)
  if (at >= 0 && messages[at]?.seq === message.seq) {
    return messages[at] === message ? messages : messages.with(at, message)
  }
  return messages.toSpliced(at + 1, 0, message)
}
