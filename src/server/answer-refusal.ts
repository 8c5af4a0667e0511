import type { DecisionResult } from '../engine/decide.ts'
import type { ToolOutputResult } from '../engine/add-tool-outputs.ts'
import type { ClientToolOutput } from '../engine/call-requests.ts'
import { ApiError } from '../protocol/api-error.ts'
import { notFound } from './http-error.ts'

/**
 * Why a message with answers gets no stream, or null. A client sends every answer again that it ever gave, so
 * one that was heard before is no fault; but if nothing in it was taken and something came too late, whoever
 * sent it must be told, or they take it for done (CL2a).
 */
export function findAnswerRefusal(
  decided: readonly DecisionResult[],
  outputs: readonly ClientToolOutput[],
  added: readonly ToolOutputResult[],
): ApiError | null {
  const results = [...decided, ...added]
  const has = (...kinds: readonly (typeof results)[number]['kind'][]) =>
    results.some(({ kind }) => kinds.includes(kind))
  if (has('accepted', 'rejected', 'added')) return null
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
    const message = `This result came too late and was not taken: the call is ${state}.`
    return new ApiError(409, 'already-ended', message, {
      callId: outputs[lateAt]?.toolCallId ?? '',
      state,
    })
  }
  const idle = decided.find((result) => result.kind === 'not-waiting')
  if (idle !== undefined) {
    const message = `This call does not wait for a decision: it is ${idle.state}.`
    return new ApiError(409, 'not-waiting', message, { state: idle.state })
  }
  if (has('repeated', 'already-decided')) return null
  const other = added.find((result) => result.kind === 'not-waiting')
  if (other !== undefined) {
    const message = `This call does not wait for a result of the client’s: it is ${other.state}.`
    return new ApiError(409, 'not-waiting', message, { state: other.state })
  }
  return notFound('call')
}
