import { isTurnEvent } from '../../core/event.ts'
import type { Change } from '../../core/fold-thread.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { joinedInputs } from '../../core/queue.ts'
import type { FollowedPlace, ReadGate } from './hub.ts'
import { type TurnFeed, TurnStreamBroken } from './turn-stream.ts'

export interface AwaitTurnQuery {
  readonly threadId: ThreadId
  readonly messageId: MessageId
  /** Where the input was queued. */
  readonly after: FollowedPlace
  readonly gate?: ReadGate
}

/**
 * Resolves when the turn that answers a queued input begins. Null: the input was withdrawn, or is held until a person
 * sends it on.
 */
export async function awaitTurn(
  feed: TurnFeed,
  { threadId, messageId, after, gate }: AwaitTurnQuery,
  signal: AbortSignal,
): Promise<MessageId | null> {
  const thread = await feed.store.readThread(threadId)
  if (thread?.queue.find(({ id }) => id === messageId)?.held === true) return null
  for await (const { changes } of feed.subscribe(threadId, after, signal, gate)) {
    for (const change of changes) {
      const found = findFate(change, messageId)
      if (found !== undefined) return found
    }
  }
  if (!signal.aborted) throw new TurnStreamBroken('The thread can no longer be followed here.')
  return null
}

function findFate(change: Change, messageId: MessageId): MessageId | null | undefined {
  if (change.kind === 'turn') {
    const { turn } = change
    const isIts = turn.replyTo === messageId || joinedInputs(turn).includes(messageId)
    return isIts ? turn.id : undefined
  }
  const { event } = change
  if (isTurnEvent(event)) {
    const isStart = event.type === 'turn-started' && event.replyTo === messageId
    const isJoin = event.type === 'input-joined' && event.messageId === messageId
    return isStart || isJoin ? event.turnId : undefined
  }
  const isGone = event.type === 'input-withdrawn' && event.messageId === messageId
  return isGone || event.type === 'queue-held' ? null : undefined
}
