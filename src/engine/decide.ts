import { asSchema } from 'ai'
import type { Call, Decision } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { deepestValue, isDeeperThan } from '../core/json-depth.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine } from './engine.ts'
import { hashInput } from './hash-input.ts'
import { type PlannedInput, applyInput } from './apply-input.ts'
import { toGivenJson } from './to-json.ts'
import { messageOf } from './translate-part.ts'

export interface DecisionRequest {
  readonly callId: CallId
  readonly decision: 'accept' | 'reject'
  /** With accept: arguments to run it with instead (AP3). */
  readonly args?: Json
  readonly feedback?: string
}

export type DecisionResult =
  | { readonly kind: 'accepted' | 'rejected' }
  | { readonly kind: 'invalid-args'; readonly message: string }
  | { readonly kind: 'already-decided'; readonly decision: Decision }
  /** It does not wait for a decision, and none was made on it. */
  | { readonly kind: 'not-waiting'; readonly state: Call['state'] }
  | { readonly kind: 'not-found' }

/**
 * A decision is a compare-and-set on the stored call: of two deciders one wins, and the tool runs
 * once however often the request is repeated (AP2). Several on one turn are one commit (AP6).
 */
export async function decideCalls(
  engine: Engine,
  threadId: ThreadId,
  by: string,
  requests: readonly DecisionRequest[],
): Promise<readonly DecisionResult[]> {
  const results = requests.map((): DecisionResult | undefined => undefined)
  for (const [index, { callId }] of requests.entries()) {
    if (results[index] !== undefined) continue
    const find = () => engine.store.readCall(threadId, callId)
    const decided = await applyInput(engine, threadId, find, (turn) =>
      decideIn(engine, turn, by, requests),
    )
    if (decided === null) results[index] = { kind: 'not-found' }
    for (const [at, result] of decided ?? []) results[at] ??= result
  }
  return results.map((result) => result ?? { kind: 'not-found' })
}

/** What becomes of those requests that are about calls of this turn. */
async function decideIn(
  engine: Engine,
  turn: Turn,
  by: string,
  requests: readonly DecisionRequest[],
): Promise<PlannedInput<ReadonlyMap<number, DecisionResult>>> {
  const calls = new Map([...callsOf(turn)].map((call) => [call.id, call]))
  const decided = new Map<CallId, Decision>()
  const events: NewTurnEvent[] = []
  const answer = new Map<number, DecisionResult>()
  for (const [index, request] of requests.entries()) {
    const call = calls.get(request.callId)
    if (call === undefined) continue
    const earlier = decided.get(call.id) ?? call.decision
    if (call.state !== 'awaiting-approval' || earlier !== undefined) {
      answer.set(index, await afterwards(call.state, earlier, request, by))
      continue
    }
    const proposed = call.input.kind === 'complete' ? call.input.value : null
    const edited = request.decision === 'accept' ? request.args : undefined
    const fault = edited === undefined ? undefined : await findArgsFault(engine, call.name, edited)
    if (fault !== undefined) {
      answer.set(index, { kind: 'invalid-args', message: fault })
      continue
    }
    const kind = request.decision === 'accept' ? 'accepted' : 'rejected'
    const at = engine.clock.now()
    const inputHash = await hashInput(edited ?? proposed)
    const decision = withDefined({ kind, by, at, inputHash } as const, {
      feedback: request.feedback,
    })
    decided.set(call.id, decision)
    const event = { type: 'call-decided', turnId: turn.id, at, callId: call.id, decision } as const
    events.push(withDefined(event, { editedInput: edited }))
    answer.set(index, { kind })
  }
  return { events, answer }
}

/** The same decision again by the same person is the same answer; anything else is told who decided. */
async function afterwards(
  state: Call['state'],
  decision: Decision | undefined,
  request: DecisionRequest,
  by: string,
): Promise<DecisionResult> {
  if (decision === undefined) return { kind: 'not-waiting', state }
  const wanted = request.decision === 'accept' ? 'accepted' : 'rejected'
  const { args } = request
  const isSame =
    decision.by === by &&
    decision.kind === wanted &&
    // To accept other arguments is another decision.
    (args === undefined || wanted === 'rejected' || (await hashInput(args)) === decision.inputHash)
  return isSame ? { kind: wanted } : { kind: 'already-decided', decision }
}

async function findArgsFault(
  engine: Engine,
  name: string,
  args: Json,
): Promise<string | undefined> {
  const tool = engine.toolbox.find(name)
  if (tool === undefined) return `There is no tool called "${name}".`
  if (isDeeperThan(args, deepestValue)) return `They are nested deeper than ${deepestValue} levels.`
  const schema = asSchema(tool.inputSchema)
  try {
    const checked = await schema.validate?.(toGivenJson('args', args))
    return checked === undefined || checked.success ? undefined : sayFault(checked.error)
  } catch (error) {
    return sayFault(error)
  }
}

/** In one line: schemas that list what is wrong say it in their message as several lines of JSON. */
function sayFault(error: unknown): string {
  const { issues } = error as { readonly issues?: unknown }
  if (!Array.isArray(issues) || issues.length === 0) {
    return messageOf(error) || 'The tool’s schema refused them and gave no reason.'
  }
  return issues
    .map(({ path, message }: { readonly path?: unknown; readonly message?: unknown }) => {
      const place = Array.isArray(path) && path.length > 0 ? `${path.map(String).join('.')}: ` : ''
      return `${place}${messageOf(message) || 'is not what it should be'}`
    })
    .join('; ')
}
