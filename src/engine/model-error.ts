import {
  APICallError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  StreamProviderError,
  TypeValidationError,
} from 'ai'
import { assertNever } from '../core/assert-never.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { TurnError } from '../core/message.ts'
import { messageOf } from './translate-part.ts'

type ModelErrorCode =
  | 'rate-limited'
  | 'out-of-quota'
  | 'context-overflow'
  | 'not-authorised'
  | 'network'
  | 'provider-down'
  | 'timed-out'
  | 'stream-cut'
  | 'bad-response'
  | 'model-error'

export interface ModelFault extends TurnError {
  readonly code: ModelErrorCode
  /** The message without the words of the provider. */
  readonly sentence: string
  /** Worth trying again, as long as nothing has been received. */
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

/** The model's stream ended without saying that it was over. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError'
}

/** The model said nothing for longer than it may. */
export class ModelTimeoutError extends Error {
  override readonly name = 'ModelTimeoutError'
}

/**
 * Whether another model may do better. Not where the request itself is refused as wrong, which it would be to any, nor where it
 * could not be made of the conversation; a conversation that is too long for one may fit another.
 */
export function isWorthAnother(error: unknown): boolean {
  if (error instanceof HoldfastError || InvalidPromptError.isInstance(error)) return false
  const { code } = toModelFault(error)
  return code !== 'model-error' || !ourFaults.has(statusOf(error, wordsOf(error)) ?? 0)
}

const ourFaults: ReadonlySet<number> = new Set([400, 405, 411, 415, 422])

/** Tells kinds of failure apart, and words them for the person who waits for an answer. */
export function toModelFault(error: unknown, now?: number): ModelFault {
  const code = codeOf(error)
  const { message: sentence, isRetryable, isDetailed } = describe(code)
  const detail = isDetailed ? shorten(messageOf(error)) : ''
  const message = detail === '' ? sentence : `${sentence} (${detail})`
  const fault = { code, message, sentence, isRetryable }
  const retryAfterMs = isRetryable ? retryAfterOf(error, now) : undefined
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs }
}

interface Description {
  readonly message: string
  readonly isRetryable: boolean
  /** Whether the words of the provider are added. */
  readonly isDetailed: boolean
}

function describe(code: ModelErrorCode): Description {
  const about = (message: string, isRetryable: boolean, isDetailed = true): Description => ({
    message,
    isRetryable,
    isDetailed,
  })
  switch (code) {
    case 'rate-limited':
      return about('The model is being asked too much right now.', true)
    case 'out-of-quota':
      return about('The account with the model’s provider has nothing left to spend.', false)
    case 'context-overflow':
      return about('The conversation is too long for this model.', false)
    case 'not-authorised':
      // Providers repeat parts of the key; whoever chats is not whom it belongs to.
      return about('The model refused the key it was given.', false, false)
    case 'network':
      return about('The model could not be reached.', true)
    case 'provider-down':
      return about('The model’s provider has a problem.', true)
    case 'timed-out':
      return about('The model took too long to answer.', true)
    case 'stream-cut':
      return about('The connection to the model ended before its answer did.', true)
    case 'bad-response':
      // The words of a parser are about bytes, and hold pieces of the answer.
      return about('The model’s answer could not be read.', false, false)
    case 'model-error':
      return about('The model failed.', false)
    default:
      return assertNever(code)
  }
}

const quota = /insufficient_quota|exceeded your current quota|credit balance|billing/i
const overflow =
  /context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long|token count.{0,40}exceeds/i

function codeOf(error: unknown): ModelErrorCode {
  if (error instanceof StreamCutError) return 'stream-cut'
  if (error instanceof ModelTimeoutError) return 'timed-out'
  if (InvalidResponseDataError.isInstance(error)) {
    return /ended without/i.test(error.message) ? 'stream-cut' : 'bad-response'
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return 'bad-response'
  }
  const words = wordsOf(error)
  const status = statusOf(error, words)
  if (quota.test(words)) return 'out-of-quota'
  if (status === 429) return 'rate-limited'
  if (status === 413 || overflow.test(words)) return 'context-overflow'
  if (status === 401 || status === 403) return 'not-authorised'
  if (status !== undefined && (status >= 500 || status === 408 || status === 409)) {
    return 'provider-down'
  }
  return status === undefined && isNetwork(error) ? 'network' : 'model-error'
}

/** Everything the provider said about it, for the patterns above. */
function wordsOf(error: unknown): string {
  const words = [messageOf(error)]
  if (APICallError.isInstance(error)) words.push(error.responseBody ?? '')
  if (StreamProviderError.isInstance(error)) words.push(error.type ?? '', `${error.code ?? ''}`)
  return words.join(' ')
}

/** Errors in mid-stream come with a name instead of a status. */
const namedStatus: readonly (readonly [RegExp, number])[] = [
  [/rate_limit/, 429],
  [/authentication_error|invalid_api_key/, 401],
  [/permission_error/, 403],
  [/overloaded|server_error|api_error|internal_error/, 500],
]

function statusOf(error: unknown, words: string): number | undefined {
  const status: unknown = (error as { readonly statusCode?: unknown } | null)?.statusCode
  // A connection that broke in mid-stream is told with the status it began with.
  if (typeof status === 'number') return status >= 400 ? status : undefined
  if (!StreamProviderError.isInstance(error)) return undefined
  return namedStatus.find(([name]) => name.test(words))?.[1]
}

function retryAfterOf(error: unknown, now: number | undefined): number | undefined {
  const headers = APICallError.isInstance(error) ? error.responseHeaders : undefined
  const milliseconds = Number(headers?.['retry-after-ms'])
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds
  const after = headers?.['retry-after']
  if (after === undefined) return undefined
  const seconds = Number(after)
  if (Number.isFinite(seconds)) return seconds > 0 ? seconds * 1_000 : undefined
  const at = Date.parse(after)
  return now === undefined || Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

const networkCodes = /ECONN(RESET|REFUSED|ABORTED)|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR/
const networkWords = /fetch failed|cannot connect|socket hang up|^terminated$|network ?error/i

function isNetwork(error: unknown): boolean {
  for (
    let at: unknown = error, depth = 0;
    at instanceof Error && depth < 5;
    depth++, at = at.cause
  ) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && networkCodes.test(code)) return true
    if (networkWords.test(at.message)) return true
  }
  return false
}

const longestDetail = 300

const shorten = (detail: string): string =>
  detail.length <= longestDetail ? detail : `${detail.slice(0, longestDetail).toWellFormed()}…`
