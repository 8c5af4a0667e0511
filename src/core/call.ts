import type { CallId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'

/** The arguments of a call: complete, or the text that had arrived when the call was closed. */
export type CallInput =
  | { readonly kind: 'partial'; readonly text: string }
  | { readonly kind: 'complete'; readonly value: Json }

/** Any value is a result (LG9), so presence is never judged by the value. `omitted` is a lazy read (PG7). */
export type CallOutput =
  | { readonly kind: 'inline'; readonly value: Json }
  | { readonly kind: 'omitted'; readonly bytes: number }

/** Why a call failed. */
export type CallFailure = 'tool-error' | 'invalid-input' | 'unknown-tool' | 'timeout'
/** Why a call was denied: by a person or a policy, or because its turn was superseded. */
export type CallDenial = 'denied' | 'superseded'
/** `no-result`: the turn has ended without a visible error, and this call has no result. */
export type CallInterruption =
  | 'stream-failed'
  | 'crashed'
  | 'over-limit'
  | 'superseded'
  | 'no-result'
/**
 * What superseded a turn that waited, where it was no message of a person: it was regenerated, another version was
 * shown, or, of a call that waited for approval, the thread was imported.
 */
export type Superseding = 'regenerate' | 'show' | 'import'
/** Why a call ended without a result. */
export type CallCause = CallFailure | CallDenial | CallInterruption | 'stopped'

/** How a call ends. Each has the causes that can lead to it and no others (CL2). */
export type CallOutcome =
  | {
      readonly state: 'succeeded'
      readonly output: CallOutput
      /**
       * What the model is sent in place of `output`, where the tool has its own form for it (AI SDK
       * `toModelOutput`).
       */
      readonly modelOutput?: Json
    }
  | {
      readonly state: 'failed'
      readonly cause: CallFailure
      /** The message that people read. */
      readonly error: string
      /** The message that the model is sent in place of `error` (HT6). Blank: the failure had no reason. */
      readonly modelError?: string
    }
  | {
      readonly state: 'denied'
      readonly cause: CallDenial
      readonly feedback?: string
      /** With the cause `superseded`. @default a person's new message */
      readonly supersededBy?: Superseding
    }
  | { readonly state: 'stopped'; readonly cause: 'stopped' }
  | {
      readonly state: 'interrupted'
      readonly cause: CallInterruption
      /** With the cause `superseded`. @default a person's new message */
      readonly supersededBy?: Superseding
    }
  | { readonly state: 'unknown'; readonly cause: 'crashed' }

/** Who decided on a waiting call, when, on what, and why (AP7). */
export interface Decision {
  readonly kind: 'accepted' | 'rejected'
  /** The id of the person, as the host application passed it. */
  readonly by: string
  readonly at: number
  /** SHA-256 of the arguments that were decided on. */
  readonly inputHash: string
  /** The reason of a rejection, which the model receives. @default none */
  readonly feedback?: string
  /** Decided by a policy, not by a person. */
  readonly automatic?: true
}

/** A request for approval that was not made by the engine's own policy. The answer must carry its id. */
export interface ApprovalRequest {
  readonly id: string
  /** The AI SDK's signature of its request: the SDK accepts an answer only with it. */
  readonly signature?: string
}

/** What a person decided about a call whose outcome is unknown (CR3). */
export interface Resolution {
  /** Run it again, mark it as succeeded, or go on without knowing. */
  readonly kind: 'retry' | 'done' | 'skip'
  readonly by: string
  readonly at: number
}

/** What is fixed from the first event of a call on. */
export interface CallOrigin {
  /** Unique in its thread. */
  readonly id: CallId
  /** The provider's own id of it, which may repeat in other steps. */
  readonly providerCallId: string
  /** The name of the tool, as the model wrote it: there may be no such tool. */
  readonly name: string
  /** A tool that is not in the typed tool set: the AI SDK shows it as `dynamic-tool`. */
  readonly dynamic?: true
  /** The provider runs the tool itself, and streams its result. */
  readonly providerExecuted?: true
  readonly title?: string
  readonly providerMetadata?: JsonObject
  readonly toolMetadata?: JsonObject
}

/** The fields that a call has in every state. */
export interface CallBase extends CallOrigin {
  readonly type: 'call'
  readonly step: number
  readonly input: CallInput
  /** The arguments that the model proposed, where a person edited them on accepting (AP3). */
  readonly proposedInput?: Json
  /**
   * What the tool's policy required when the call was recorded; a later change of the policy rewrites nothing
   * (FD4).
   */
  readonly approval: 'required' | 'not-required'
  /** Set where the request for approval came from the provider or from a loop of the host's own. */
  readonly approvalRequest?: ApprovalRequest
  readonly decision?: Decision
  readonly resolution?: Resolution
  readonly resultProviderMetadata?: JsonObject
  /**
   * The step in which the result of a provider-executed call arrived, where it is later than the call's own
   * step.
   */
  readonly resultStep?: number
  readonly createdAt: number
  readonly startedAt?: number
}

/** A call that has not ended. */
export type OpenCall = CallBase &
  (
    | { readonly state: 'streaming' }
    | { readonly state: 'awaiting-approval' }
    | { readonly state: 'ready' }
    | { readonly state: 'running'; readonly startedAt: number; readonly preliminary?: Json }
  )
/** A call that has ended, with its outcome. */
export type EndedCall = CallBase & CallOutcome & { readonly endedAt: number }
/** A tool call in one of its states: it has a result only where it succeeded, and a cause only where it did not. */
export type Call = OpenCall | EndedCall

/** The state of a call. Which transitions are allowed is in `lifecycle.ts`. */
export type CallState = Call['state']

/** The states of a call that has not ended. */
export const openStates: readonly CallState[] = [
  'streaming',
  'awaiting-approval',
  'ready',
  'running',
]

export const isOpenState = (state: CallState): boolean => openStates.includes(state)
export const isOpenCall = (call: Call): call is OpenCall => isOpenState(call.state)

/**
 * Whether the call blocks its turn until a person acts: it waits for approval, or its outcome is unknown and
 * unresolved.
 */
export const needsPerson = (call: Call): boolean =>
  call.state === 'awaiting-approval' ||
  (call.state === 'unknown' && call.resolution?.kind !== 'skip')
