import { APICallError } from 'ai'
import type { TurnError } from '../core/message.ts'
import { messageOf } from './translate-part.ts'

export type ModelErrorCode =
  | 'rate-limited'
  | 'context-overflow'
  | 'not-authorised'
  | 'network'
  | 'provider-down'
  | 'stream-cut'
  | 'model-error'

export interface ModelFault extends TurnError {
  readonly code: ModelErrorCode
  /** Worth trying again, as long as nothing has been received. */
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

/** The model's stream ended without saying that it was over. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError'
}

const networkCodes = /ECONN(RESET|REFUSED|ABORTED)|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR/
const overflow = /context.{0,20}(length|window)|maximum context|too many tokens|prompt is too long/i

/** Tells kinds of failure apart, and words them for the person who waits for an answer. */
export function toModelFault(error: unknown): ModelFault {
  const detail = messageOf(error)
  const fault = (code: ModelErrorCode, message: string, isRetryable: boolean): ModelFault => ({
    code,
    message: detail === '' ? message : `${message} (${detail})`,
    isRetryable,
  })
  if (error instanceof StreamCutError) {
    return fault('stream-cut', 'The connection to the model ended before its answer did.', true)
  }
  const status = statusOf(error)
  if (overflow.test(detail)) {
    return fault('context-overflow', 'The conversation is too long for this model.', false)
  }
  if (status === 429) {
    const limited = fault('rate-limited', 'The model is being asked too much right now.', true)
    const after = retryAfterOf(error)
    return after === undefined ? limited : { ...limited, retryAfterMs: after }
  }
  if (status === 401 || status === 403) {
    return fault('not-authorised', 'The model refused the key it was given.', false)
  }
  if (status !== undefined && (status >= 500 || status === 408)) {
    return fault('provider-down', 'The model’s provider has a problem.', true)
  }
  if (isNetwork(error)) return fault('network', 'The model could not be reached.', true)
  return fault('model-error', 'The model failed.', false)
}

function statusOf(error: unknown): number | undefined {
  if (APICallError.isInstance(error)) return error.statusCode
  const status: unknown = (error as { statusCode?: unknown } | null)?.statusCode
  return typeof status === 'number' ? status : undefined
}

function retryAfterOf(error: unknown): number | undefined {
  const headers = APICallError.isInstance(error) ? error.responseHeaders : undefined
  const milliseconds = Number(headers?.['retry-after-ms'])
  const seconds = Number(headers?.['retry-after'])
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
}

function isNetwork(error: unknown): boolean {
  for (
    let at: unknown = error, depth = 0;
    at instanceof Error && depth < 5;
    depth++, at = at.cause
  ) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && networkCodes.test(code)) return true
    if (/fetch failed|cannot connect|socket hang up|terminated|network/i.test(at.message))
      return true
  }
  return false
}
