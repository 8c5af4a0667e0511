import type {
  ApprovalRequest,
  CallOrigin,
  CallOutcome,
  CallOutput,
  Decision,
  Resolution,
} from './call.ts'
import type { CallId, MessageId, Seq } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { ItemPart, ResumedFrom, TurnEnding, TurnError, TurnWait, UserPart } from './message.ts'
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
  | { readonly type: 'turn-paused'; readonly waitingFor: TurnWait }
  /** It goes on: after a wait or an end, or, with `from`, in another process without either (AG7). */
  | { readonly type: 'turn-resumed'; readonly from?: ResumedFrom }
  | { readonly type: 'turn-ended'; readonly ending: TurnEnding }

/** What happened to the thread itself. */
export type ThreadEventBody =
  | {
      readonly type: 'message-added'
      readonly messageId: MessageId
      readonly role: 'user' | 'system'
      readonly parts: readonly UserPart[]
      readonly metadata?: Json
    }
  /** Regenerate and edit: out of every view and page, kept in the ledger. */
  | {
      readonly type: 'messages-retired'
      readonly messageIds: readonly MessageId[]
      /**
       * Only where a thread was rewritten: what stood from this number up to here was taken out for
       * good, and the messages may come again under the same ids.
       */
      readonly from?: Seq
    }
  | { readonly type: 'thread-renamed'; readonly title: string }

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
