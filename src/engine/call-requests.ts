import { parseCallId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import type { ToolOutput } from './add-tool-outputs.ts'
import type { DecisionRequest } from './decide.ts'
import type { ResolveRequest } from './resolve.ts'
import type { ThreadScope } from './thread-scope.ts'
import { warnDeprecated } from './warn-deprecated.ts'

/** What a person says about a call that waits for approval. */
export interface ToolDecision {
  readonly toolCallId: string
  readonly decision: 'accept' | 'reject'
  /** With `accept`: arguments to run it with instead, as its schema makes them. @default those of the model */
  readonly args?: Json
  /** With `reject`: why; the model is told. @default no reason */
  readonly feedback?: string
}

/** What a person says about a call whose outcome is unknown. */
export interface ToolResolution extends ThreadScope {
  readonly threadId: string
  readonly toolCallId: string
  /** Run it again, it worked, or go on without knowing. */
  readonly resolution: 'retry' | 'done' | 'skip'
  /** With `done`: what the call returned, as far as the person knows. @default nothing */
  readonly result?: Json
  /** Who says so. */
  readonly by: string
}

/** The result of a tool that the client runs, in the words of the AI SDK's `addToolOutput`. */
export type ClientToolOutput =
  | { readonly toolCallId: string; readonly output: Json }
  | { readonly toolCallId: string; readonly errorText: string }

/** @deprecated `callId` is `toolCallId` since 0.3; goes with 1.0. */
export type OldDecision = DecisionRequest
/** @deprecated `callId` is `toolCallId` since 0.3; goes with 1.0. */
export type OldResolution = ResolveRequest
/** @deprecated `{ toolCallId, output }` or `{ toolCallId, errorText }` since 0.3; goes with 1.0. */
export type OldToolOutput = ToolOutput

export function toDecisionRequest(given: ToolDecision | OldDecision): DecisionRequest {
  if (!('toolCallId' in given)) return { ...given, callId: oldCallId('decide', given) }
  const { toolCallId, ...rest } = given
  return { ...rest, callId: parseCallId(toolCallId) }
}

export function toResolveRequest(given: ToolResolution | OldResolution): ResolveRequest {
  parseThreadId(given.threadId)
  if (!('toolCallId' in given)) return { ...given, callId: oldCallId('resolve', given) }
  const { toolCallId, ownerId, ...rest } = given
  const request = { ...rest, callId: parseCallId(toolCallId) }
  return ownerId === undefined ? request : { ...request, ownerId: parseOwnerId(ownerId) }
}

export function toGivenOutput(given: ClientToolOutput | OldToolOutput): ToolOutput {
  if (!('toolCallId' in given)) return { ...given, callId: oldCallId('addToolOutputs', given) }
  const callId = parseCallId(given.toolCallId)
  return 'errorText' in given
    ? { callId, outcome: { state: 'failed', cause: 'tool-error', error: given.errorText } }
    : {
        callId,
        outcome: { state: 'succeeded', output: { kind: 'inline', value: given.output } },
      }
}

function oldCallId(verb: string, { callId }: { readonly callId: string }): string {
  warnDeprecated(`\`callId\` of ${verb}`, '`toolCallId`, as in the AI SDK')
  return parseCallId(callId)
}
