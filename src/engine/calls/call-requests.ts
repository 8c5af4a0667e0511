import { parseCallId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { AnswerReads } from './answer-reads.ts'
import type { ToolOutput, ToolOutputResult } from './add-tool-outputs.ts'
import { checkBy, checkNames, checkWord } from '../options/check-names.ts'
import type { DecisionRequest, DecisionResult } from './decide.ts'
import type { ResolveRequest, ResolveResult } from './resolve.ts'
import type { ContinueResult } from '../run/resume.ts'
import type { ThreadScope } from '../thread-scope.ts'
import { warnDeprecated } from '../options/warn-deprecated.ts'
import { badRequestFault } from '../../core/holdfast-error.ts'

/** The decision of a person on a call that waits for approval. */
export interface ToolDecision {
  readonly toolCallId: string
  readonly decision: 'accept' | 'reject'
  /** With `accept`: arguments to run it with instead, as its schema returns them. @default those of the model */
  readonly args?: Json
  /** With `reject`: the reason, which the model receives. @default no reason */
  readonly feedback?: string
}

/** The arguments of `decide`: one or more decisions of one person in one thread. */
export interface DecideRequest extends ThreadScope {
  readonly threadId: ThreadId
  /** The id of the person who decides; stored with each decision (AP7). */
  readonly by: string
  /** The calls may belong to several turns of the thread. A call that is not in it gets the result `not-found`. */
  readonly decisions: readonly (ToolDecision | OldDecision)[]
}

/** The resolution by a person of a call whose outcome is unknown. */
export interface ToolResolution extends ThreadScope {
  readonly threadId: string
  readonly toolCallId: string
  /** Run it again, mark it as succeeded, or go on without knowing. */
  readonly resolution: 'retry' | 'done' | 'skip'
  /** With `done`: what the call returned, as far as the person knows. @default nothing */
  readonly result?: Json
  /** The id of the person who resolves it. */
  readonly by: string
}

/** The result of a tool that the client runs, with the fields of the AI SDK's `addToolOutput`. */
export type ClientToolOutput =
  | { readonly toolCallId: string; readonly output: Json }
  | { readonly toolCallId: string; readonly errorText: string }

/** @deprecated `callId` is `toolCallId` since 0.3; goes with 1.0. */
export type OldDecision = DecisionRequest
/** @deprecated `callId` is `toolCallId` since 0.3; goes with 1.0. */
export type OldResolution = ResolveRequest
/** @deprecated `{ toolCallId, output }` or `{ toolCallId, errorText }` since 0.3; goes with 1.0. */
export type OldToolOutput = ToolOutput

/**
 * The methods of `Holdfast` that plan on a turn, as the engine implements them, for the routes: they have read the turn, or
 * the last turn of the thread that is continued, and must not read it twice, and their reads wait for their turn. The
 * public types have no `reads`: a host would have to know that the turn was read from the store. A host's wrapper of these
 * methods may drop it: then the turn is read, at once.
 */
export interface AnswerMethods {
  decide(request: DecideRequest, reads?: AnswerReads): Promise<readonly DecisionResult[]>
  resolve(request: ToolResolution | OldResolution, reads?: AnswerReads): Promise<ResolveResult>
  addToolOutputs(
    threadId: ThreadId,
    outputs: readonly (ClientToolOutput | OldToolOutput)[],
    reads?: AnswerReads,
  ): Promise<readonly ToolOutputResult[]>
  continue(threadId: ThreadId, scope?: ThreadScope, reads?: AnswerReads): Promise<ContinueResult>
}

export function toDecisionRequest(given: ToolDecision | OldDecision): DecisionRequest {
  checkNames('A decision', given, [
    ...(isOld(given) ? (['callId'] as const) : (['toolCallId'] as const)),
    ...(['decision', 'args', 'feedback'] as const),
  ])
  checkWord('decision', given.decision, ['accept', 'reject'])
  if (given.feedback !== undefined) checkText('feedback', given.feedback)
  if (isOld(given)) return { ...given, callId: oldCallId('decide', given) }
  const { toolCallId, ...rest } = given
  return { ...rest, callId: parseCallId(toolCallId) }
}

export function toResolveRequest(given: ToolResolution | OldResolution): ResolveRequest {
  checkNames('resolve', given, [
    'threadId',
    ...(isOld(given) ? (['callId'] as const) : (['toolCallId'] as const)),
    ...(['resolution', 'result', 'by', 'ownerId'] as const),
  ])
  parseThreadId(given.threadId)
  checkWord('resolution', given.resolution, ['retry', 'done', 'skip'])
  checkBy(given.by)
  const { ownerId, ...rest } = given
  const request = isOld(rest) ? { ...rest, callId: oldCallId('resolve', rest) } : toNewNames(rest)
  return ownerId === undefined ? request : { ...request, ownerId: parseOwnerId(ownerId) }
}

const toNewNames = ({ toolCallId, ...rest }: Omit<ToolResolution, 'ownerId'>): ResolveRequest => ({
  ...rest,
  callId: parseCallId(toolCallId),
})

export function toGivenOutput(given: ClientToolOutput | OldToolOutput): ToolOutput {
  if (isOld(given)) {
    checkNames('An output', given, ['callId', 'outcome'])
    return { ...given, callId: oldCallId('addToolOutputs', given) }
  }
  checkNames('An output', given, ['toolCallId', 'output', 'errorText'])
  const callId = parseCallId(given.toolCallId)
  if ('errorText' in given) {
    checkText('errorText', given.errorText)
    return { callId, outcome: { state: 'failed', cause: 'tool-error', error: given.errorText } }
  }
  if (!('output' in given))
    throw badRequestFault('What a client says of a call has "output" or "errorText".')
  return {
    callId,
    outcome: { state: 'succeeded', output: { kind: 'inline', value: given.output } },
  }
}

/** Uses the field names from before 0.3. */
const isOld = <Given extends object>(
  given: Given,
): given is Extract<Given, { readonly callId: string }> =>
  typeof given === 'object' && given !== null && 'callId' in given && !('toolCallId' in given)

function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw badRequestFault(`"${name}" is a text.`)
}

function oldCallId(verb: string, { callId }: { readonly callId: string }): string {
  warnDeprecated(`\`callId\` of ${verb}`, '`toolCallId`, as in the AI SDK')
  return parseCallId(callId)
}
