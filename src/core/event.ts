import type {
  ApprovalRequest,
  CallOrigin,
  CallOutcome,
  CallOutput,
  Decision,
  Resolution,
} from './call.ts'
import type { FeedbackRating } from './feedback.ts'
import type { CallId, MessageId, Seq, ThreadId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type {
  ItemPart,
  MessageVersion,
  ResumedFrom,
  TurnCopy,
  TurnEnding,
  TurnError,
  TurnWait,
  UserPart,
} from './message.ts'
import type { NewInput } from './queued-input.ts'
import type { FinishReason, Usage } from './usage.ts'

/** What happened inside a turn. Noun, then verb in the past: what happened, never a command. */
export type TurnEventBody =
  | {
      readonly type: 'turn-started'
      readonly replyTo: MessageId | null
      readonly metadata?: Json
      /** The choices of the request for this turn, as the host's schema returned them (AG2). */
      readonly choices?: Json
      /** The trace that the turn began in, as W3C `traceparent`: every later run of the turn continues it. */
      readonly trace?: string
      /** Produced by a loop of the host's own: the engine never takes the turn over. */
      readonly recorded?: true
      /** Set on an answer that was regenerated: the versions that existed before it, oldest first (VR1). */
      readonly versionOf?: readonly MessageVersion[]
    }
  | { readonly type: 'step-started'; readonly step: number; readonly model?: string }
  | {
      readonly type: 'text-started'
      readonly block: string
      readonly kind: 'text' | 'reasoning'
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'text-appended'
      readonly block: string
      readonly delta: string
      readonly providerMetadata?: JsonObject
    }
  | { readonly type: 'text-ended'; readonly block: string; readonly providerMetadata?: JsonObject }
  | { readonly type: 'item-added'; readonly item: ItemPart }
  /** Arguments begin to arrive. */
  | { readonly type: 'call-announced'; readonly callId: CallId; readonly call: CallOrigin }
  | { readonly type: 'call-input-appended'; readonly callId: CallId; readonly delta: string }
  /** The call is whole and durable; only now may its tool run (CL3). */
  | {
      readonly type: 'call-recorded'
      readonly callId: CallId
      readonly call: CallOrigin
      readonly input: Json
      readonly approval: 'required' | 'not-required'
    }
  /** The name or the arguments of an open call changed. Written for loops that report their own calls (CL11). */
  | {
      readonly type: 'call-revised'
      readonly callId: CallId
      readonly name: string
      readonly input: Json
      readonly isPartial: boolean
    }
  /** The provider or the host's loop requires a person's approval for a call that was recorded without it. */
  | {
      readonly type: 'call-approval-requested'
      readonly callId: CallId
      readonly request: ApprovalRequest
    }
  | {
      readonly type: 'call-decided'
      readonly callId: CallId
      readonly decision: Decision
      readonly editedInput?: Json
    }
  | { readonly type: 'call-started'; readonly callId: CallId }
  | { readonly type: 'call-progressed'; readonly callId: CallId; readonly output: Json }
  | {
      readonly type: 'call-settled'
      readonly callId: CallId
      readonly outcome: CallOutcome
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'call-resolved'
      readonly callId: CallId
      readonly resolution: Resolution
      /** With `done`: what the call returned, according to the person. */
      readonly output?: CallOutput
    }
  | {
      readonly type: 'step-ended'
      readonly finishReason: FinishReason
      readonly usage?: Usage
      readonly model?: string
      readonly providerMetadata?: JsonObject
    }
  /** The run of the step died, and the model continues the same step after the text that was shown (AG8). */
  | { readonly type: 'step-resumed'; readonly model?: string }
  /**
   * The step was broken off and runs again as the next one; its parts stay where they are. `error`: its model
   * failed and another is tried (AG5). Without it, its run died.
   */
  | { readonly type: 'step-abandoned'; readonly error?: TurnError }
  /** A model failed before the step had any part, and the next model of the agent's list is tried (AG5). */
  | {
      readonly type: 'model-replaced'
      readonly model: string
      readonly by: string
      readonly error: TurnError
    }
  /** Steering: a queued input joined the turn after its last step, and the next step's prompt contains it (IN3). */
  | {
      readonly type: 'input-joined'
      readonly messageId: MessageId
      readonly parts: readonly UserPart[]
      readonly metadata?: Json
    }
  | { readonly type: 'turn-paused'; readonly waitingFor: TurnWait }
  /** The turn continues: after a wait or an end, or, with `from`, in another process without either (AG7). */
  | { readonly type: 'turn-resumed'; readonly from?: ResumedFrom }
  | { readonly type: 'turn-ended'; readonly ending: TurnEnding }
  /** A person rates the answer; null takes the rating back (FK4). The turn itself does not change. */
  | {
      readonly type: 'feedback-given'
      readonly by: string
      readonly rating: FeedbackRating | null
      readonly comment?: string
    }
  /** An ended turn of another thread, copied whole: its only event in this thread (VR4). */
  | { readonly type: 'turn-copied'; readonly turn: TurnCopy }

/** The positions of hidden messages: each followed the one before it, and the first one followed `after`. */
export interface KeptPath {
  /** 0: they were the first of the thread. */
  readonly after: Seq
  /** In the same order as the ids, which is the thread's order. */
  readonly places: readonly Seq[]
}

/** Where a thread was forked from (VR4). */
export interface ForkOrigin {
  readonly threadId: ThreadId
  /** The last message that was copied, by its id in the other thread. */
  readonly messageId: MessageId
}

/** What happened to the thread itself. */
export type ThreadEventBody =
  | {
      readonly type: 'message-added'
      readonly messageId: MessageId
      readonly role: 'user' | 'system'
      readonly parts: readonly UserPart[]
      readonly metadata?: Json
      /** Set on an edit: the versions that existed before it, oldest first (VR1). */
      readonly versionOf?: readonly MessageVersion[]
    }
  /** Regenerate and edit: the messages leave every view and page, and stay in the ledger. */
  | {
      readonly type: 'messages-retired'
      readonly messageIds: readonly MessageId[]
      /**
       * Set where the messages can be shown again (VR1). Absent: they were withdrawn, or hidden by an older
       * version of Holdfast.
       */
      readonly kept?: KeptPath
      /**
       * Only of a rewritten thread: everything from this seq on was removed for good, and messages with the
       * same ids may be added again.
       */
      readonly from?: Seq
    }
  /**
   * Hidden messages are shown again, at their own positions. A reader that does not hold them has to read the
   * thread again.
   */
  | { readonly type: 'messages-shown'; readonly places: readonly Seq[] }
  /**
   * `by` is absent where a person or the host set the title. With a model's title, `usage` is what producing
   * it cost (FK3).
   */
  | {
      readonly type: 'thread-renamed'
      readonly title: string
      readonly by?: 'model'
      readonly model?: string
      readonly usage?: Usage
    }
  /** An absent flag does not change. A later `message-added` takes the thread out of the archive (FK2). */
  | { readonly type: 'thread-flagged'; readonly pinned?: boolean; readonly archived?: boolean }
  /**
   * An input that arrived while a turn ran, and waits for its own turn (IN1). A `message-added` or
   * `input-joined` with its id removes it from the queue.
   */
  | { readonly type: 'input-queued'; readonly input: NewInput }
  /** The input has new parts, or a new position: before another waiting input, or with null at the end. */
  | {
      readonly type: 'input-revised'
      readonly messageId: MessageId
      readonly parts?: readonly UserPart[]
      readonly before?: MessageId | null
    }
  | { readonly type: 'input-withdrawn'; readonly messageId: MessageId }
  /** Every waiting input is held until a person releases it (IN5). */
  | { readonly type: 'queue-held' }
  | { readonly type: 'queue-released' }
  /** Every event before this one was copied from another thread (VR4). */
  | { readonly type: 'thread-forked'; readonly from: ForkOrigin }

/** A row that could not be parsed. It keeps its seq and changes nothing (LG7). */
export interface UnreadableEvent {
  readonly type: 'unreadable'
  readonly reason: string
}

/** An event of a turn, before it has a seq. */
export type NewTurnEvent = TurnEventBody & { readonly turnId: MessageId; readonly at: number }
/** An event of the thread itself, before it has a seq. */
export type NewThreadEvent = ThreadEventBody & { readonly at: number }
/** An event before the commit that gives it its seq. */
export type NewEvent = NewTurnEvent | NewThreadEvent

/** The seq that the commit gave an event. */
export type Numbered = { readonly seq: Seq }
/** An event with the seq that its commit gives it. */
export type NumberedEvent = NewEvent & Numbered
/** A stored event of a turn. */
export type TurnEvent = (NewTurnEvent | (UnreadableEvent & { turnId: MessageId; at: number })) &
  Numbered
/** A stored event of the thread itself. */
export type ThreadEvent = (NewThreadEvent | (UnreadableEvent & { turnId?: never; at: number })) &
  Numbered
/** A stored event. */
export type LedgerEvent = TurnEvent | ThreadEvent

export const isTurnEvent = <E extends NewEvent | LedgerEvent>(
  event: E,
): event is Extract<E, { readonly turnId: MessageId }> =>
  'turnId' in event && event.turnId !== undefined

/** Events with consecutive seqs, starting at `first`: those that the commit gives them. */
export const numberEvents = <E extends NewEvent>(
  events: readonly E[],
  first: Seq,
): readonly (E & Numbered)[] => events.map((event, index) => ({ ...event, seq: first + index }))
/** Whether this event creates the turn, and so sets its position in the thread. */
export const beginsTurn = (event: NewEvent | LedgerEvent): boolean =>
  event.type === 'turn-started' || event.type === 'turn-copied'
