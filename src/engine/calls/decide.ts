import type { Call, Decision } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallId, OwnerId, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Engine } from '../engine.ts'
import type { FittedValue } from '../fit-schema.ts'
import { hashInput } from './hash-input.ts'
import { type PlannedAnswer, applyInput } from './apply-input.ts'
import { type AnswerReads, createFindTurn } from './answer-reads.ts'
import { attachableIn, charsOfJson, usedBy } from '../run/turn-size.ts'
import type { TurnPlace } from '../call-scope.ts'
import { fitGiven, toolboxOf } from '../agent/known-tools.ts'

/** A decision on one call that waits for approval. */
export interface DecisionRequest {
  readonly callId: CallId
  readonly decision: 'accept' | 'reject'
  /** With `accept`: arguments to run it with instead, as its schema returns them (AP3). */
  readonly args?: Json
  readonly feedback?: string
}

/** The result of one decision. Only `accepted` and `rejected` have changed anything, or repeat what was decided. */
export type DecisionResult =
  | {
      readonly kind: 'accepted' | 'rejected'
      /** The same person had decided so before: nothing was changed. @default it was decided now */
      readonly repeated?: true
    }
  | { readonly kind: 'invalid-args'; readonly message: string }
  | { readonly kind: 'already-decided'; readonly decision: Decision }
  /** The call does not wait for a decision, and none was made on it. */
  | { readonly kind: 'not-waiting'; readonly state: Call['state'] }
  | { readonly kind: 'not-found' }

/**
 * A decision is a compare-and-set on the stored call: of two deciders one wins, and the tool runs once however often
 * the request is repeated (AP2). Several decisions on one turn are one commit (AP6).
 */
export async function decideCalls(
  engine: Engine,
  threadId: ThreadId,
  by: string,
  requests: readonly DecisionRequest[],
  ownerId?: OwnerId,
  reads: AnswerReads = {},
): Promise<readonly DecisionResult[]> {
  const results = requests.map((): DecisionResult | undefined => undefined)
  const fitArgs = createArgsFitter(engine)
  for (const [index, { callId }] of requests.entries()) {
    if (results[index] !== undefined) continue
    const find = createFindTurn(engine.store, reads, { threadId, callId, ownerId })
    const decided = await applyInput(engine, threadId, find, (turn, place) =>
      decideIn(engine, turn, by, requests, (call, request) => fitArgs(call, request, turn, place)),
    )
    if (decided === null) results[index] = { kind: 'not-found' }
    for (const [at, result] of decided ?? []) results[at] ??= result
  }
  return results.map((result) => result ?? { kind: 'not-found' })
}

/** The results for those requests that belong to calls of this turn. */
async function decideIn(
  engine: Engine,
  turn: Turn,
  by: string,
  requests: readonly DecisionRequest[],
  fitArgs: FitArgs,
): Promise<PlannedAnswer<ReadonlyMap<number, DecisionResult>>> {
  const calls = new Map([...callsOf(turn)].map((call) => [call.id, call]))
  const decided = new Map<CallId, Decision>()
  const room = roomIn(engine, turn)
  const events: NewTurnEvent[] = []
  const answer = new Map<number, DecisionResult>()
  for (const [index, request] of requests.entries()) {
    const call = calls.get(request.callId)
    if (call === undefined) continue
    const earlier = decided.get(call.id) ?? call.decision
    if (call.state !== 'awaiting-approval' || earlier !== undefined) {
      answer.set(index, await afterwards(call, earlier, request, by, fitArgs))
      continue
    }
    const proposed = call.input.kind === 'complete' ? call.input.value : null
    const fitted = request.decision === 'accept' ? await fitArgs(call, request) : undefined
    if (fitted?.kind === 'refused') {
      answer.set(index, { kind: 'invalid-args', message: fitted.message })
      continue
    }
    const edited = fitted?.value
    const { feedback } = request
    const grown = edited === undefined ? 0 : charsOfJson(edited) - charsOfJson(proposed)
    const added = grown + (feedback?.length ?? 0)
    // Never a decision that adds nothing: a turn that is at its limit must still be decided on.
    if (added > 0 && added > room.chars) {
      answer.set(index, { kind: 'invalid-args', message: room.fault })
      continue
    }
    room.chars -= added
    const kind = request.decision === 'accept' ? 'accepted' : 'rejected'
    const at = engine.clock.now()
    const inputHash = hashInput(edited ?? proposed)
    const decision = withDefined({ kind, by, at, inputHash } as const, {
      feedback,
    })
    decided.set(call.id, decision)
    const event = { type: 'call-decided', turnId: turn.id, at, callId: call.id, decision } as const
    events.push(withDefined(event, { editedInput: edited }))
    answer.set(index, { kind })
  }
  return { events, answer }
}

/** How many characters people may still add to the calls of a turn (OP7a). */
function roomIn({ options }: Engine, turn: Turn): { chars: number; readonly fault: string } {
  const { attached, chars } = usedBy(turn)
  const most = attachableIn(options)
  const fault = `With this decision the arguments and the feedback of the answer would exceed ${most.toLocaleString('en-US')} characters.`
  return { chars: Math.min(most - attached, options.maxTurnChars - chars), fault }
}

/** A repeated decision by the same person gets the same result; any other gets the decision that was made. */
async function afterwards(
  call: Call,
  decision: Decision | undefined,
  request: DecisionRequest,
  by: string,
  fitArgs: FitArgs,
): Promise<DecisionResult> {
  if (decision === undefined) return { kind: 'not-waiting', state: call.state }
  const wanted = request.decision === 'accept' ? 'accepted' : 'rejected'
  const other = { kind: 'already-decided', decision } as const
  if (decision.by !== by || decision.kind !== wanted) return other
  // Accepting other arguments is another decision; they are compared in the form in which they would be stored.
  const fitted = wanted === 'accepted' ? await fitArgs(call, request) : undefined
  const same = { kind: wanted, repeated: true } as const
  if (fitted === undefined) return same
  if (fitted.kind === 'refused') return other
  return hashInput(fitted.value) === decision.inputHash ? same : other
}

/** What the tool's schema returns for the arguments in a request, if it has any. */
type FitArgs = (call: Call, request: DecisionRequest) => Promise<FittedValue | undefined>

/** Calls the schema once for each request, however often the decision is planned again because of concurrent writes. */
function createArgsFitter(engine: Engine) {
  const known = new Map<DecisionRequest, Promise<FittedValue>>()
  const fit = async (
    call: Call,
    args: Json,
    turn: Turn,
    place: TurnPlace,
  ): Promise<FittedValue> => {
    const tool = (await toolboxOf(engine, place, turn)).find(call.name)
    return tool === undefined
      ? { kind: 'refused', message: `There is no tool called "${call.name}".` }
      : fitGiven(engine, place, call, tool.inputSchema, args)
  }
  return async (
    call: Call,
    request: DecisionRequest,
    turn: Turn,
    place: TurnPlace,
  ): Promise<FittedValue | undefined> => {
    if (request.args === undefined) return undefined
    const fitted = known.get(request) ?? fit(call, request.args, turn, place)
    known.set(request, fitted)
    return fitted
  }
}
