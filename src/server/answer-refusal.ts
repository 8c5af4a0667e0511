import type { DecisionResult } from '../engine/calls/decide.ts'
import type { ToolOutputResult } from '../engine/calls/add-tool-outputs.ts'
import type { ClientToolOutput, ToolDecision } from '../engine/calls/call-requests.ts'
import { ApiError } from '../protocol/api-error.ts'
import { alreadyDecided, notFound } from './http-error.ts'

/**
 * The error for a message with answers that gets no stream, or null. A client repeats every answer that it ever gave,
 * so a repeated one is no error. But if none of them was applied, and one came too late or is contrary to what was
 * decided, the client must get an error, or its user believes that the answer took effect (CL2a, AP2).
 */
export function findAnswerRefusal(
  decisions: readonly Pick<ToolDecision, 'decision'>[],
  decided: readonly DecisionResult[],
  outputs: readonly ClientToolOutput[],
  added: readonly ToolOutputResult[],
): ApiError | null {
  const results = [...decided, ...added]
  const has = (...kinds: readonly (typeof results)[number]['kind'][]) =>
    results.some(({ kind }) => kinds.includes(kind))
  const isNew = (result: (typeof results)[number]) =>
    result.kind === 'added' ||
    ((result.kind === 'accepted' || result.kind === 'rejected') && result.repeated !== true)
  if (results.some(isNew)) return null
  const badAt = added.findIndex(({ kind }) => kind === 'invalid-result')
  const bad = added[badAt]
  if (bad?.kind === 'invalid-result') {
    const callId = outputs[badAt]?.toolCallId ?? ''
    return new ApiError(422, 'invalid-result', bad.message, { callId })
  }
  const lateAt = added.findIndex(({ kind }) => kind === 'too-late')
  const late = added[lateAt]
  if (late?.kind === 'too-late') {
    const { state } = late
    const message = `This result came too late and was not stored: the call is ${state}.`
    return new ApiError(409, 'already-ended', message, {
      callId: outputs[lateAt]?.toolCallId ?? '',
      state,
    })
  }
  const contrary = decided.find(
    (result, index) =>
      result.kind === 'already-decided' &&
      (result.decision.kind === 'accepted') !== (decisions[index]?.decision === 'accept'),
  )
  if (contrary?.kind === 'already-decided') return alreadyDecided(contrary.decision)
  const idle = decided.find((result) => result.kind === 'not-waiting')
  if (idle !== undefined) {
    const message = `This call does not wait for a decision: it is ${idle.state}.`
    return new ApiError(409, 'not-waiting', message, { state: idle.state })
  }
  if (has('accepted', 'rejected', 'repeated', 'already-decided')) return null
  const other = added.find((result) => result.kind === 'not-waiting')
  if (other !== undefined) {
    const message = `This call does not wait for a result of the client: it is ${other.state}.`
    return new ApiError(409, 'not-waiting', message, { state: other.state })
  }
  return notFound('call')
}
