import type { CallId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'

/** The arguments of a call: complete, or as much of their text as had come when it was closed. */
export type CallInput =
  | { readonly kind: 'partial'; readonly text: string }
  | { readonly kind: 'complete'; readonly value: Json }

/** Any value is a result (LG9), so presence is never judged by the value. `omitted` is a lazy read (PG7). */
export type CallOutput =
  | { readonly kind: 'inline'; readonly value: Json }
  | { readonly kind: 'omitted'; readonly bytes: number }

export type CallFailure = 'tool-error' | 'invalid-input' | 'unknown-tool' | 'timeout'
export type CallDenial = 'denied' | 'superseded'
/** `no-result`: the turn is over, nothing went wrong that anybody saw, and no result of this call is there. */
export type CallInterruption =
  | 'stream-failed'
  | 'crashed'
  | 'over-limit'
  | 'superseded'
  | 'no-result'
export type CallCause = CallFailure | CallDenial | CallInterruption | 'stopped'

/** How a call ends. Each has the causes that can lead to it and no others (CL2). */
export type CallOutcome =
  | {
      readonly state: 'succeeded'
      readonly output: CallOutput
      /** What the model is told, where the tool says it differently (AI SDK `toModelOutput`). */
      readonly modelOutput?: Json
    }
  | {
      readonly state: 'failed'
      readonly cause: CallFailure
      /** What people read. */
      readonly error: string
      /** What the model is told, where people read something else (HT6). Blank: there was no reason. */
      readonly modelError?: string
    }
  | { readonly state: 'denied'; readonly cause: CallDenial; readonly feedback?: string }
  | { readonly state: 'stopped'; readonly cause: 'stopped' }
  | { readonly state: 'interrupted'; readonly cause: CallInterruption }
  | { readonly state: 'unknown'; readonly cause: 'crashed' }

/** Who decided on a waiting call, when, on what, and why (AP7). */
export interface Decision {
  readonly kind: 'accepted' | 'rejected'
  readonly by: string
  readonly at: number
  /** SHA-256 of the arguments that were decided on. */
  readonly inputHash: string
  readonly feedback?: string
  /** Decided by a policy, not by a person. */
  readonly automatic?: true
}

/** A request for approval that was not made by the engine's own policy. The answer must carry its id. */
export interface ApprovalRequest {
  readonly id: string
  /** What the AI SDK signs a request with, so that it knows its own again. */
  readonly signature?: string
}

/** What a person said about a call whose outcome is unknown (CR3). */
export interface Resolution {
  readonly kind: 'retry' | 'done' | 'skip'
  readonly by: string
  readonly at: number
}

/** What is fixed when a call is first heard of. */
export interface CallOrigin {
  readonly id: CallId
  readonly providerCallId: string
  readonly name: string
  /** A tool that is not in the typed tool set: the AI SDK shows it as `dynamic-tool`. */
  readonly dynamic?: true
  readonly providerExecuted?: true
  readonly title?: string
  readonly providerMetadata?: JsonObject
  readonly toolMetadata?: JsonObject
}

export interface CallBase extends CallOrigin {
  readonly type: 'call'
  readonly step: number
  readonly input: CallInput
  /** The arguments that the model gave, where a person edited them on accepting (AP3). */
  readonly proposedInput?: Json
  /** What the tool's policy said when the call was recorded; a later change rewrites nothing (FD4). */
  readonly approval: 'required' | 'not-required'
  /** Where somebody else asked for approval: the provider, or a loop of the host's own. */
  readonly approvalRequest?: ApprovalRequest
  readonly decision?: Decision
  readonly resolution?: Resolution
  readonly resultProviderMetadata?: JsonObject
  /** The step in which the result of a provider's own call came, where that is a later one. */
  readonly resultStep?: number
  readonly createdAt: number
  readonly startedAt?: number
}

export type OpenCall = CallBase &
  (
    | { readonly state: 'streaming' }
    | { readonly state: 'awaiting-approval' }
    | { readonly state: 'ready' }
    | { readonly state: 'running'; readonly startedAt: number; readonly preliminary?: Json }
  )
export type EndedCall = CallBase & CallOutcome & { readonly endedAt: number }
/** A tool call in one of its states: it has a result only where it succeeded, and a cause only where it did not. */
export type Call = OpenCall | EndedCall

/** Where a call stands; what may follow what is the table of its lifecycle. */
export type CallState = Call['state']

/** A call in one of these has not ended. */
export const openStates: readonly CallState[] = [
  'streaming',
  'awaiting-approval',
  'ready',
  'running',
]

export const isOpenState = (state: CallState): boolean => openStates.includes(state)
export const isOpenCall = (call: Call): call is OpenCall => isOpenState(call.state)

/** Blocks the turn until a person acts: an approval, or an unknown outcome that nobody resolved. */
export const needsPerson = (call: Call): boolean =>
  call.state === 'awaiting-approval' ||
  (call.state === 'unknown' && call.resolution?.kind !== 'skip')
