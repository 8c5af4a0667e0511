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
  /** `failed`: it can be tried again or discarded. */
  readonly state: 'sending' | 'failed'
  /** Why it could not be sent. */
  readonly error?: string
  /** What becomes of it if a turn runs. @default what the server says */
  readonly whenBusy?: WhenBusy
}

/** A thread as a page shows it at one moment. */
export interface ThreadSnapshot {
  readonly threadId: string
  /** `loading` until the newest messages have been read for the first time. A new thread is `ready` at once. */
  readonly status: 'loading' | 'ready'
  /** Empty as long as nobody and nothing has given it one. */
  readonly title: string
  /** Kept at hand (FK2). False until it has been read. */
  readonly pinned: boolean
  /** Put away, until somebody writes in it (FK2). False until it has been read. */
  readonly archived: boolean
  /** Where it was forked from (VR4). Absent: it was not, or this has not been read yet. */
  readonly forkedFrom?: ForkOrigin
  /** What has been loaded, oldest first. The same object as before where nothing changed. */
  readonly messages: readonly Message[]
  /** What was written here and is not in `messages` yet, oldest first. */
  readonly pending: readonly PendingMessage[]
  /** What waits for its turn, in the order in which it is answered (IN2). */
  readonly queue: InputQueue
  /** There are messages before the first one here. */
  readonly hasOlder: boolean
  /** The next page is on its way. */
  readonly isLoadingOlder: boolean
  /** The last turn is being produced. False while it waits for a person. */
  readonly isRunning: boolean
  /** How this page is connected to the server. */
  readonly connection: Connection
  /** What goes with every message and every new answer as its `choices`, as `choose` set it. @default none */
  readonly choices: JsonObject | null
  /** The server cannot store anything right now; what is shown is stored. */
  readonly isSavingInterrupted: boolean
}

/** A thread, live while somebody subscribes, and what can be done with it. */
export interface ThreadClient extends ObservableStore<ThreadSnapshot> {
  /** Loads one page more. Does nothing when there is none, or one is on its way. */
  readonly loadOlder: () => Promise<void>
  /**
   * Sends a message. It is in `pending` at once, and stays there as `failed` when this rejects. `replaces` is the id
   * of the message that it is an edit of; that one and what followed it stay as a version (VR1). `whenBusy` says what becomes
   * of it while a turn runs: it waits in `queue` for its turn, joins the turn, stops it, or is refused.
   */
  readonly send: (
    parts: readonly UserPart[],
    options?: { readonly replaces?: string; readonly whenBusy?: WhenBusy },
  ) => Promise<void>
  /** Gives an input that waits other words. Rejects when it is being answered already. */
  readonly editQueued: (id: string, text: string) => Promise<void>
  /** Puts an input that waits before another one; null: at the end. */
  readonly moveQueued: (id: string, before: string | null) => Promise<void>
  /** Takes back an input that waits. Rejects when it is being answered already. */
  readonly withdraw: (id: string) => Promise<void>
  /** Sends on what a stop held back. */
  readonly release: () => Promise<void>
  /** Sends a message again that failed, under the same id: it is stored once, whatever happened. */
  readonly retry: (pendingId: string) => Promise<void>
  /** Takes a message out of `pending`. One that is on its way may be stored all the same. */
  readonly discard: (pendingId: string) => void
  /** Puts back what could not be sent before the page was left, to be tried again or discarded. */
  readonly restore: (unsent: readonly PendingMessage[]) => void
  /**
   * Connects again now: after a refusal, such as one from before somebody signed in, and instead of waiting any
   * longer for a server that was away. Changes nothing while it is connected, or nobody looks.
   */
  readonly reconnect: () => void
  /** Sets what goes as `choices` with every message that is sent from here and every answer that is made anew; null: nothing. */
  readonly choose: (choices: JsonObject | null) => void
  readonly stop: () => Promise<void>
  /** Answers again. @default messageId the last turn */
  readonly regenerate: (messageId?: string) => Promise<void>
  /**
   * Shows another version of a message, and the thread below it as it was left: by an id of `versionsOf(message)`, or of
   * any message on a hidden path. Resolves when it is in `messages`. Rejects while a turn runs.
   */
  readonly show: (versionId: string) => Promise<ShownVersion>
  /** A new thread with all up to this message, and its id (VR4). @default messageId the last one that has ended */
  readonly fork: (messageId?: string) => Promise<{ readonly threadId: string }>
  /** Says what the person thinks of an answer (FK4); null takes it back. Rejects while the answer is being made. */
  readonly giveFeedback: (messageId: string, feedback: FeedbackAnswer) => Promise<void>
  /** Goes on with a turn that ran out of steps or was broken off. */
  readonly continue: () => Promise<void>
  /** Accepts or rejects a call that waits. Rejects when somebody else was first, or the arguments do not fit. */
  readonly decide: (callId: string, decision: DecisionAnswer) => Promise<void>
  /** Several at once, in one request (AP6). */
  readonly decideAll: (callIds: readonly string[], decision: DecisionAnswer) => Promise<void>
  /** Says what became of a call whose outcome is unknown: run it again, it worked (with what `result`), skip it. */
  readonly resolve: (
    callId: string,
    resolution: 'retry' | 'done' | 'skip',
    result?: Json,
  ) => Promise<void>
}

/** What a person thinks of an answer. */
export interface FeedbackAnswer {
  readonly rating: FeedbackRating | null
  /** With a rating: why, in at most 2,000 characters. @default no words */
  readonly comment?: string
}

/** What `show` has shown. */
export interface ShownVersion {
  readonly messageId: string
  /** Calls on the path that was left which took effect and must not be repeated: they stay done (VR3). */
  readonly effects: readonly {
    readonly messageId: string
    readonly toolCallId: string
    readonly name: string
    readonly state: 'succeeded' | 'unknown'
  }[]
}

/** What a person says about a call that waits for approval. */
export interface DecisionAnswer {
  readonly decision: 'accept' | 'reject'
  /** With `accept`: other arguments than the model gave. @default those of the model */
  readonly args?: Json
  /** With `reject`: why; the model is told. @default no reason */
  readonly feedback?: string
}
