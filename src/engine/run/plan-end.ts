import { isOpenCall } from '../../core/call.ts'
import type { NewEvent, NewTurnEvent } from '../../core/event.ts'
import type { MessageId } from '../../core/ids.ts'
import { callsOf, type Turn, type TurnEnding } from '../../core/message.ts'
import { findInterrupt, firstReady, foldQueueEvents, steeringOf } from '../../core/queue.ts'
import type { InputQueue, QueuedInput } from '../../core/queued-input.ts'
import { withDefined } from '../../core/with-defined.ts'

/** The turn that answers the next input: its id, and the trace in which it begins. */
export interface NewTurn {
  readonly turnId: MessageId
  readonly trace?: string
}

/** What the commit that ends a turn writes. `next`: the turn that begins in it, whose lease it acquires. */
export interface EndPlan {
  readonly events: readonly NewEvent[]
  readonly next: MessageId | null
}

/**
 * Plans the end of a turn together with the beginning of the next one, in one commit: a crash between two commits
 * would leave queued inputs that nobody processes (IN2). `ended` are the events that end the turn. Null from
 * `newTurn`: this process has no agent that could answer.
 */
export function planEnd(
  ended: readonly NewEvent[],
  before: InputQueue,
  ending: TurnEnding['kind'],
  at: number,
  newTurn: () => NewTurn | null,
): EndPlan {
  const queue = foldQueueEvents(before, ended)
  // A stop holds the queued inputs (IN5), except the input that the turn was stopped for (IN4).
  const input = ending === 'stopped' ? findInterrupt(queue) : firstReady(queue)
  const next = input === undefined ? null : newTurn()
  if (input !== undefined && next !== null) {
    return { events: [...ended, ...planNextTurn(input, next, at)], next: next.turnId }
  }
  const waits = firstReady(queue) !== undefined
  const held: readonly NewEvent[] = waits ? [{ type: 'queue-held', at }] : []
  return { events: [...ended, ...held], next: null }
}

/** Adds a queued input to the thread as a message, and starts the turn that answers it. */
function planNextTurn(
  { id, parts, metadata, choices }: QueuedInput,
  { turnId, trace }: NewTurn,
  at: number,
): readonly NewEvent[] {
  const added = { type: 'message-added', messageId: id, role: 'user', parts, at } as const
  const started = { type: 'turn-started', turnId, replyTo: id, at } as const
  return [withDefined(added, { metadata }), withDefined(started, { choices, trace })]
}

/** Whether inputs may join a turn now: after a step that has ended, with no call open (IN3). */
export function canJoin(turn: Turn, queue: InputQueue, maxSteps: number): boolean {
  const last = turn.steps.at(-1)
  if (turn.progress.status !== 'running' || last?.status !== 'ended') return false
  const isSpent = turn.steps.length % maxSteps === 0
  return !isSpent && !callsOf(turn).some(isOpenCall) && steeringOf(queue).length > 0
}

/** All steering inputs join at once, in queue order. */
export const planJoin = (turn: Turn, queue: InputQueue, at: number): readonly NewTurnEvent[] =>
  steeringOf(queue).map(({ id: messageId, parts, metadata }) =>
    withDefined({ type: 'input-joined', turnId: turn.id, messageId, parts, at } as const, {
      metadata,
    }),
  )
