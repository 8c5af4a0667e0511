import type { FeedbackRating } from '../core/feedback.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Message, UserPart } from '../core/message.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { WhenBusy } from '../protocol/chat-body.ts'
import type { ForkOrigin } from '../core/thread.ts'
import type { Connection } from './connection.ts'
import type { ObservableStore } from './external-store.ts'

/** A message that was written here and is not stored yet, or could not be. */
export interface PendingMessage {
  /** The id that it has once it is stored. */
  readonly id: string
  readonly parts: readonly UserPart[]
  /** `failed`: it can be retried or discarded. */
  readonly state: 'sending' | 'failed'
  /** Why it could not be sent. */
  readonly error?: string
  /** What happens to it while a turn runs. @default the server's option */
  readonly whenBusy?: WhenBusy
}

/** A thread as a page shows it at one moment. */
export interface ThreadSnapshot {
  readonly threadId: string
  /** `loading` until the newest messages have been read for the first time. A new thread is `ready` at once. */
  readonly status: 'loading' | 'ready'
  /** Empty as long as the thread is unnamed. */
  readonly title: string
  /** Whether it is pinned (FK2). False until it has been read. */
  readonly pinned: boolean
  /** Whether it is archived, until a message arrives (FK2). False until it has been read. */
  readonly archived: boolean
  /** Where it was forked from (VR4). Absent: it was not, or this has not been read yet. */
  readonly forkedFrom?: ForkOrigin
  /** The loaded messages, oldest first. Unchanged messages stay the same objects. */
  readonly messages: readonly Message[]
  /** Messages written here that are not in `messages` yet, oldest first. */
  readonly pending: readonly PendingMessage[]
  /** The queued inputs, in the order in which they are answered (IN2). */
  readonly queue: InputQueue
  /** There are messages before the first one here. */
  readonly hasOlder: boolean
  /** The next page is being loaded. */
  readonly isLoadingOlder: boolean
  /** The last turn is being produced. False while it waits for a person. */
  readonly isRunning: boolean
  /** How this page is connected to the server. */
  readonly connection: Connection
  /** Sent as `choices` with every message and every regenerated answer, as set by `choose`. @default none */
  readonly choices: JsonObject | null
  /** The server cannot store anything right now; what is shown is stored. */
  readonly isSavingInterrupted: boolean
}

/** A thread, live while it has a subscriber, and its operations. */
export interface ThreadClient extends ObservableStore<ThreadSnapshot> {
  /** Loads one more page. Does nothing when there is none, or one is being loaded. */
  readonly loadOlder: () => Promise<void>
  /**
   * Sends a message. It is in `pending` at once, and stays there as `failed` when this rejects. `replaces` is the id of
   * the message that it edits; that one and what followed it stay as a version (VR1). `whenBusy` decides what happens
   * while a turn runs: it is queued, joins the turn, stops it, or is refused.
   */
  readonly send: (
    parts: readonly UserPart[],
    options?: { readonly replaces?: string; readonly whenBusy?: WhenBusy },
  ) => Promise<void>
  /** Changes the text of a queued input. Rejects when it is being answered already. */
  readonly editQueued: (id: string, text: string) => Promise<void>
  /** Moves a queued input before another one; null: to the end. */
  readonly moveQueued: (id: string, before: string | null) => Promise<void>
  /** Withdraws a queued input. Rejects when it is being answered already. */
  readonly withdraw: (id: string) => Promise<void>
  /** Releases the inputs that a stop held back. */
  readonly release: () => Promise<void>
  /** Sends a failed message again under the same id: it is stored once, whatever happened. */
  readonly retry: (pendingId: string) => Promise<void>
  /** Removes a message from `pending`. One that is in flight may be stored all the same. */
  readonly discard: (pendingId: string) => void
  /** Restores unsent messages from before the page was left, to be retried or discarded. */
  readonly restore: (unsent: readonly PendingMessage[]) => void
  /**
   * Connects again now: after a refusal, such as one from before a sign-in, and instead of waiting any longer for a
   * server that was unreachable. Does nothing while it is connected, or without a subscriber.
   */
  readonly reconnect: () => void
  /** Sets the `choices` of every message that is sent from here and every answer that is regenerated; null: none. */
  readonly choose: (choices: JsonObject | null) => void
  /** Stops the turn that runs or waits. What it has produced stays. */
  readonly stop: () => Promise<void>
  /** Regenerates an answer. @default messageId the last turn */
  readonly regenerate: (messageId?: string) => Promise<void>
  /**
   * Shows another version of a message, and the thread below it as it was left: by an id of `versionsOf(message)`, or of
   * any message on a hidden path. Resolves when it is in `messages`. Rejects while a turn runs.
   */
  readonly show: (versionId: string) => Promise<ShownVersion>
  /**
   * Creates a new thread with everything up to this message, and returns its id (VR4).
   * @default messageId the last one that has ended
   */
  readonly fork: (messageId?: string) => Promise<{ readonly threadId: string }>
  /** Stores the person's feedback on an answer (FK4); null withdraws it. Rejects while the answer is being produced. */
  readonly giveFeedback: (messageId: string, feedback: FeedbackAnswer) => Promise<void>
  /** Continues a turn that ran out of steps or was broken off. */
  readonly continue: () => Promise<void>
  /** Accepts or rejects a call that waits. Rejects when another decision was first, or the arguments do not fit. */
  readonly decide: (callId: string, decision: DecisionAnswer) => Promise<void>
  /**
   * Several decisions in one request (AP6). `own`: the answers of calls that get another one than `decision`. Rejects if
   * one of them failed; the others count.
   */
  readonly decideAll: (
    callIds: readonly string[],
    decision: DecisionAnswer,
    own?: ReadonlyMap<string, DecisionAnswer>,
  ) => Promise<void>
  /** Resolves a call whose outcome is unknown: run it again, mark it as succeeded (with `result`), or skip it. */
  readonly resolve: (
    callId: string,
    resolution: 'retry' | 'done' | 'skip',
    result?: Json,
  ) => Promise<void>
}

/** A person's feedback on an answer. */
export interface FeedbackAnswer {
  readonly rating: FeedbackRating | null
  /** With a rating: a comment of at most 2,000 characters. @default none */
  readonly comment?: string
}

/** The result of `show`. */
export interface ShownVersion {
  readonly messageId: string
  /** Calls on the path that was left which took effect and are not repeatable: hiding them does not undo them (VR3). */
  readonly effects: readonly {
    readonly messageId: string
    readonly toolCallId: string
    readonly name: string
    readonly state: 'succeeded' | 'unknown'
  }[]
}

/** A person's decision on a call that waits for approval. */
export interface DecisionAnswer {
  readonly decision: 'accept' | 'reject'
  /** With `accept`: other arguments than the model's. @default those of the model */
  readonly args?: Json
  /** With `reject`: the reason, which the model receives. @default no reason */
  readonly feedback?: string
}
