import type { ModelMessage } from 'ai'
import type { CallId, MessageId, OwnerId, ThreadId } from '../core/ids.ts'

/** The turn that something belongs to. */
export interface TurnPlace {
  readonly ownerId: OwnerId
  readonly threadId: ThreadId
  readonly turnId: MessageId
}

/**
 * What every function of the host application that runs for a call receives: the owner, the call, and the context
 * (AG3). It is what the AI SDK passes to `execute`, and more.
 */
export interface CallScope<Context = unknown> extends TurnPlace {
  readonly toolCallId: CallId
  /**
   * The same for this call in every attempt: after a crash, on another server, and when a person has it run again. Pass
   * it to any service that must not apply the call twice.
   */
  readonly idempotencyKey: string
  /** Aborted when the turn is stopped or its process shuts down, and when the time limit of a tool has passed. */
  readonly abortSignal: AbortSignal
  /** The prompt that the model was sent. */
  readonly messages: ModelMessage[]
  /**
   * The agent's `context`. For a tool with a `contextSchema`, or with an entry in `toolsContext`: that entry, as its
   * schema returns it.
   */
  readonly context: Context
}

/** Call ids are unique in their thread. */
export const idempotencyKeyOf = (threadId: ThreadId, callId: CallId): string =>
  `${threadId}/${callId}`
