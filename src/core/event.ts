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
      /** What came with the message for the agent, as the host's schema made it (AG2). */
      readonly choices?: Json
      /** The trace that the turn began in, as W3C `traceparent`: whoever goes on with the turn goes on in it. */
      readonly trace?: string
      /** Produced by a loop of the host's own; the engine does not carry it on. */
      readonly recorded?: true
      /** An answer that was made anew: the versions that there were before it, in the order of making (VR1). */
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
  /** For loops that write their own calls (CL11): name or arguments changed while it was open. */
  | {
      readonly type: 'call-revised'
      readonly callId: CallId
      readonly name: string
      readonly input: Json
      readonly isPartial: boolean
    }
  /** Somebody else than the engine's policy wants a person to accept a call that was recorded without. */
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
      /** With `done`: what the person says the call returned. */
      readonly output?: CallOutput
    }
  | {
      readonly type: 'step-ended'
      readonly finishReason: FinishReason
      readonly usage?: Usage
      readonly model?: string
      readonly providerMetadata?: JsonObject
    }
  /** Its run died, and the model goes on in the same step from the text that was shown (AG8). */
  | { readonly type: 'step-resumed'; readonly model?: string }
  /**
   * The step was broken off and is run again; what it had said stays where it stood. `error`: its model failed, and another is
   * tried (AG5); without, its run died.
   */
  | { readonly type: 'step-abandoned'; readonly error?: TurnError }
  /** A model failed before it had said anything of the step, and the next one of the agent's list is tried (AG5). */
  | {
      readonly type: 'model-replaced'
      readonly model: string
      readonly by: string
      readonly error: TurnError
    }
  /** Steering: an input that waited joined the turn behind its last step, and the next one is sent it (IN3). */
  | {
      readonly type: 'input-joined'
      readonly messageId: MessageId
      readonly parts: readonly UserPart[]
      readonly metadata?: Json
    }
  | { readonly type: 'turn-paused'; readonly waitingFor: TurnWait }
  /** It goes on: after a wait or an end, or, with `from`, in another process without either (AG7). */
  | { readonly type: 'turn-resumed'; readonly from?: ResumedFrom }
  | { readonly type: 'turn-ended'; readonly ending: TurnEnding }
  /** A person says what they think of the answer; null: no longer (FK4). Changes nothing about the turn itself. */
  | {
      readonly type: 'feedback-given'
      readonly by: string
      readonly rating: FeedbackRating | null
      readonly comment?: string
    }
  /** A turn of another thread that had ended, as it is: its only event here (VR4). */
  | { readonly type: 'turn-copied'; readonly turn: TurnCopy }

/** Where messages stood that are hidden: each followed the one before it, and the first one `after`. */
export interface KeptPath {
  /** 0: they began the thread. */
  readonly after: Seq
  /** In the order of the ids, which is that of the thread. */
  readonly places: readonly Seq[]
}

/** Where a thread was forked from (VR4). */
export interface ForkOrigin {
  readonly threadId: ThreadId
  /** The last message that was copied, by its id there. */
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
      /** An edit: the versions that there were before it, in the order of making (VR1). */
      readonly versionOf?: readonly MessageVersion[]
    }
  /** Regenerate and edit: out of every view and page, kept in the ledger. */
  | {
      readonly type: 'messages-retired'
      readonly messageIds: readonly MessageId[]
      /** They can be shown again (VR1). Absent: they were withdrawn, or an older version hid them. */
      readonly kept?: KeptPath
      /**
       * Only where a thread was rewritten: what stood from this number up to here was taken out for
       * good, and the messages may come again under the same ids.
       */
      readonly from?: Seq
    }
  /**
   * Messages that were hidden are shown again, at the places where they stand. A reader that does not hold
   * them has to read the thread anew.
   */
  | { readonly type: 'messages-shown'; readonly places: readonly Seq[] }
  /** `by` is absent where a person or the host gave the title. A model's says what making it used (FK3). */
  | {
      readonly type: 'thread-renamed'
      readonly title: string
      readonly by?: 'model'
      readonly model?: string
      readonly usage?: Usage
    }
  /** What is absent stays as it is. A message that is added later takes the thread out of the archive (FK2). */
  | { readonly type: 'thread-flagged'; readonly pinned?: boolean; readonly archived?: boolean }
  /** Said while a turn ran, and kept until its turn comes (IN1). A `message-added` or `input-joined` takes it out. */
  | { readonly type: 'input-queued'; readonly input: NewInput }
  /** Other parts, or another place: before an input that waits too, or with null at the end. */
  | {
      readonly type: 'input-revised'
      readonly messageId: MessageId
      readonly parts?: readonly UserPart[]
      readonly before?: MessageId | null
    }
  | { readonly type: 'input-withdrawn'; readonly messageId: MessageId }
  /** Whatever waits is kept until a person releases it (IN5). */
  | { readonly type: 'queue-held' }
  | { readonly type: 'queue-released' }
  /** All that stands before this was copied from another thread (VR4). */
  | { readonly type: 'thread-forked'; readonly from: ForkOrigin }

/** A row that could not be read. It keeps its place on the number line and changes nothing (LG7). */
export interface UnreadableEvent {
  readonly type: 'unreadable'
  readonly reason: string
}

export type NewTurnEvent = TurnEventBody & { readonly turnId: MessageId; readonly at: number }
export type NewThreadEvent = ThreadEventBody & { readonly at: number }
/** An event before the commit that gives it its place. */
export type NewEvent = NewTurnEvent | NewThreadEvent

export type Numbered = { readonly seq: Seq }
export type TurnEvent = (NewTurnEvent | (UnreadableEvent & { turnId: MessageId; at: number })) &
  Numbered
export type ThreadEvent = (NewThreadEvent | (UnreadableEvent & { turnId?: never; at: number })) &
  Numbered
export type LedgerEvent = TurnEvent | ThreadEvent

export const isTurnEvent = <E extends NewEvent | LedgerEvent>(
  event: E,
): event is Extract<E, { readonly turnId: MessageId }> =>
  'turnId' in event && event.turnId !== undefined

/** Events with the numbers that they get, or are going to get: the first has `first`, and none is left out. */
export const numberEvents = <E extends NewEvent>(
  events: readonly E[],
  first: Seq,
): readonly (E & Numbered)[] => events.map((event, index) => ({ ...event, seq: first + index }))
/** Whether a turn takes its place in the thread with this event. */
export const beginsTurn = (event: NewEvent | LedgerEvent): boolean =>
  event.type === 'turn-started' || event.type === 'turn-copied'
