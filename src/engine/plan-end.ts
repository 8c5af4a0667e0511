import { isOpenCall } from '../core/call.ts'
import type { NewEvent, NewTurnEvent } from '../core/event.ts'
import type { MessageId } from '../core/ids.ts'
import { callsOf, type Turn, type TurnEnding } from '../core/message.ts'
import { findInterrupt, firstReady, foldQueueEvents, steeringOf } from '../core/queue.ts'
import type { InputQueue, QueuedInput } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'

/** The turn that answers the next input: its id, and the trace that it begins in. */
export interface NewTurn {
  readonly turnId: MessageId
  readonly trace?: string
}

/** What a commit writes that ends a turn. `next`: the turn that begins in it, whose lease it acquires. */
export interface EndPlan {
  readonly events: readonly NewEvent[]
  readonly next: MessageId | null
}

/**
 * The end of a turn with what follows it, in one commit: without it a crash between the two would leave inputs that
 * wait for nobody (IN2). `ended` ends the turn. Null from `newTurn`: nobody here can answer.
 */
export function planEnd(
  ended: readonly NewEvent[],
  before: InputQueue,
  ending: TurnEnding['kind'],
  at: number,
  newTurn: () => NewTurn | null,
): EndPlan {
  const queue = foldQueueEvents(before, ended)
  // A stop holds what waits (IN5), but for the input that the turn was stopped for (IN4).
  const input = ending === 'stopped' ? findInterrupt(queue) : firstReady(queue)
  const next = input === undefined ? null : newTurn()
  if (input !== undefined && next !== null) {
    return { events: [...ended, ...planNextTurn(input, next, at)], next: next.turnId }
  }
  const waits = firstReady(queue) !== undefined
  const held: readonly NewEvent[] = waits ? [{ type: 'queue-held', at }] : []
  return { events: [...ended, ...held], next: null }
}

/** An input that gets its place in the thread, and the turn that answers it. */
export function planNextTurn(
  { id, parts, metadata, choices }: QueuedInput,
  { turnId, trace }: NewTurn,
  at: number,
): readonly NewEvent[] {
  const added = { type: 'message-added', messageId: id, role: 'user', parts, at } as const
  const started = { type: 'turn-started', turnId, replyTo: id, at } as const
  return [withDefined(added, { metadata }), withDefined(started, { choices, trace })]
}

/** Whether inputs may join a turn now: behind a step that ended, with nothing under way (IN3). */
export function canJoin(turn: Turn, queue: InputQueue, maxSteps: number): boolean {
  const last = turn.steps.at(-1)
  if (turn.progress.status !== 'running' || last?.status !== 'ended') return false
  const isSpent = turn.steps.length % maxSteps === 0
  return !isSpent && ![...callsOf(turn)].some(isOpenCall) && steeringOf(queue).length > 0
}

/** All that steers joins at once, in the order in which it waits. */
export const planJoin = (turn: Turn, queue: InputQueue, at: number): readonly NewTurnEvent[] =>
  steeringOf(queue).map(({ id: messageId, parts, metadata }) =>
    withDefined({ type: 'input-joined', turnId: turn.id, messageId, parts, at } as const, {
      metadata,
    }),
  )
