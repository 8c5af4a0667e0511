import type { ModelMessage } from 'ai'
import type { CallId, MessageId, OwnerId, ThreadId } from '../core/ids.ts'

/** Whose turn something belongs to. */
export interface TurnPlace {
  readonly ownerId: OwnerId
  readonly threadId: ThreadId
  readonly turnId: MessageId
}

/**
 * What everything of the host's that runs for a call is told: for whom, for which call, and with what (AG3). It is
 * what the AI SDK gives to `execute`, and more.
 */
export interface CallScope<Context = unknown> extends TurnPlace {
  readonly toolCallId: CallId
  /**
   * The same for this call in every attempt: after a crash, on another server, and when a person has it run again. To be
   * handed to whatever must not take effect twice.
   */
  readonly idempotencyKey: string
  /** Aborted when the turn is stopped or its process goes, and when the time of a tool is over. */
  readonly abortSignal: AbortSignal
  /** What the model was sent. */
  readonly messages: ModelMessage[]
  /**
   * The agent's `context`. For a tool with a `contextSchema`, or with an entry in `toolsContext`: that entry, as its
   * schema makes it.
   */
  readonly context: Context
}

/** Call ids are unique in their thread. */
export const idempotencyKeyOf = (threadId: ThreadId, callId: CallId): string =>
  `${threadId}/${callId}`
