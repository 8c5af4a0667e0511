import { asSchema } from 'ai'
import type { Call, Decision } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import type { CallId, MessageId, ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine } from './engine.ts'
import { hashInput } from './hash-input.ts'
import { resumeIfReady } from './resume.ts'
import { toJson } from './to-json.ts'
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
 * once however often the request is repeated (AP2). Several in one request are one commit (AP6).
 */
export async function decideCalls(
  engine: Engine,
  threadId: ThreadId,
  by: string,
  requests: readonly DecisionRequest[],
): Promise<readonly DecisionResult[]> {
  const touched = new Set<MessageId>()
  const results = await Promise.all(
    requests.map((request) => decideCall(engine, threadId, by, request, touched)),
  )
  for (const turnId of touched) await resumeIfReady(engine, threadId, turnId)
  return results
}

async function decideCall(
  engine: Engine,
  threadId: ThreadId,
  by: string,
  request: DecisionRequest,
  touched: Set<MessageId>,
): Promise<DecisionResult> {
  const found = await engine.store.readCall(threadId, request.callId)
  if (found === null) return { kind: 'not-found' }
  const { call, turn } = found
  if (call.state !== 'awaiting-approval') return afterwards(call, request, by)
  const proposed = call.input.kind === 'complete' ? call.input.value : null
  const edited = request.decision === 'accept' ? request.args : undefined
  const fault = edited === undefined ? undefined : await findArgsFault(engine, call.name, edited)
  if (fault !== undefined) return { kind: 'invalid-args', message: fault }

  const kind = request.decision === 'accept' ? 'accepted' : 'rejected'
  const at = engine.clock.now()
  const inputHash = await hashInput(edited ?? proposed)
  const decision = withDefined({ kind, by, at, inputHash } as const, {
    feedback: request.feedback,
  })
  const event: NewTurnEvent = withDefined(
    { type: 'call-decided', turnId: turn.id, at, callId: call.id, decision } as const,
    { editedInput: edited },
  )
  const result = await engine.append({ threadId, events: [event] })
  if (result.kind === 'no-thread') return { kind: 'not-found' }
  if (result.kind !== 'appended') {
    // Somebody was quicker by a moment.
    const now = await engine.store.readCall(threadId, request.callId)
    return now === null ? { kind: 'not-found' } : afterwards(now.call, request, by)
  }
  touched.add(turn.id)
  return { kind }
}

/** The same decision again by the same person is the same answer; anything else is told who decided. */
function afterwards(call: Call, request: DecisionRequest, by: string): DecisionResult {
  const { decision } = call
  if (decision === undefined) return { kind: 'not-waiting', state: call.state }
  const wanted = request.decision === 'accept' ? 'accepted' : 'rejected'
  const isSame = decision.by === by && decision.kind === wanted
  return isSame ? { kind: wanted } : { kind: 'already-decided', decision }
}

async function findArgsFault(
  engine: Engine,
  name: string,
  args: Json,
): Promise<string | undefined> {
  const tool = engine.toolbox.find(name)
  if (tool === undefined) return `There is no tool called "${name}".`
  const schema = asSchema(tool.inputSchema)
  try {
    const checked = await schema.validate?.(toJson(args))
    return checked === undefined || checked.success ? undefined : messageOf(checked.error)
  } catch (error) {
    return messageOf(error)
  }
}
