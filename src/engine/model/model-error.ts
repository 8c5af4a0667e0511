import {
  APICallError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  StreamProviderError,
  TypeValidationError,
} from 'ai'
import { assertNever } from '../../core/assert-never.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { TurnError } from '../../core/message.ts'
import { WordedError } from '../worded-error.ts'
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
  /** The message without the provider's own text. */
  readonly sentence: string
  /** Whether a retry may succeed, as long as nothing has been received. */
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

/** The model's stream ended without a finish part. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError'
}

/** The model sent nothing for longer than its timeout. */
export class ModelTimeoutError extends Error {
  override readonly name = 'ModelTimeoutError'
}

/**
 * Whether another model may succeed. Not if the request itself was refused as malformed, which every model would do,
 * nor if no prompt could be built from the conversation. A conversation that is too long for one model may fit another.
 */
export function isWorthAnother(error: unknown): boolean {
  if (error instanceof HoldfastError || InvalidPromptError.isInstance(error)) return false
  const { code } = toModelFault(error)
  return code !== 'model-error' || !ourFaults.has(statusOf(error) ?? 0)
}

const ourFaults: ReadonlySet<number> = new Set([400, 405, 411, 415, 422])

/** Classifies a failure, and describes it for the person who waits for an answer. */
export function toModelFault(error: unknown, now?: number): ModelFault {
  const code = codeOf(error)
  const { message: sentence, isRetryable } = describe(code)
  const detail = detailOf(code, error)
  const message = detail === '' ? sentence : `${sentence} (${detail})`
  const fault = { code, message, sentence, isRetryable }
  const retryAfterMs = isRetryable ? retryAfterOf(error, now) : undefined
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs }
}

interface Description {
  readonly message: string
  readonly isRetryable: boolean
}

function describe(code: ModelErrorCode): Description {
  const about = (message: string, isRetryable: boolean): Description => ({ message, isRetryable })
  switch (code) {
    case 'rate-limited':
      return about('The model is receiving too many requests right now.', true)
    case 'out-of-quota':
      return about('The account with the model’s provider has no credit left.', false)
    case 'context-overflow':
      return about('The conversation is too long for this model.', false)
    case 'not-authorised':
      return about('The model’s provider rejected the API key.', false)
    case 'network':
      return about('The model could not be reached.', true)
    case 'provider-down':
      return about('The model’s provider has a problem.', true)
    case 'timed-out':
      return about('The model took too long to answer.', true)
    case 'stream-cut':
      return about('The connection to the model ended before the answer was complete.', true)
    case 'bad-response':
      return about('The model’s answer could not be read.', false)
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
  const text = textOf(error)
  const status = statusOf(error)
  if (quota.test(text)) return 'out-of-quota'
  if (status === 429) return 'rate-limited'
  if (status === 413 || overflow.test(text)) return 'context-overflow'
  if (status === 401 || status === 403) return 'not-authorised'
  if (status !== undefined && (status >= 500 || status === 408 || status === 409)) {
    return 'provider-down'
  }
  return status === undefined && isNetwork(error) ? 'network' : 'model-error'
}

/** All text of the provider about the error, for the patterns above. */
function textOf(error: unknown): string {
  const texts = [messageOf(error)]
  if (APICallError.isInstance(error)) texts.push(error.responseBody ?? '')
  if (StreamProviderError.isInstance(error)) texts.push(error.type ?? '', `${error.code ?? ''}`)
  return texts.join(' ')
}

/** Errors in mid-stream carry a name instead of a status. */
const namedStatus: readonly (readonly [RegExp, number])[] = [
  [/rate_limit/, 429],
  [/authentication_error|invalid_api_key/, 401],
  [/permission_error/, 403],
  [/overloaded|server_error|api_error|internal_error/, 500],
  [/invalid_request|invalid_(?:image|file)|unsupported_(?:image|file)/, 400],
]

/** The status of HTTP, or the one that the name of the error stands for. */
export function statusOf(error: unknown): number | undefined {
  const status: unknown = (error as { readonly statusCode?: unknown } | null)?.statusCode
  // A connection that broke in mid-stream is reported with the status that it began with.
  if (typeof status === 'number') return status >= 400 ? status : undefined
  if (!StreamProviderError.isInstance(error)) return undefined
  const text = textOf(error)
  return namedStatus.find(([name]) => name.test(text))?.[1]
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

/**
 * The provider's or the SDK's own text, for the log: without it nobody learns that a key was never set. A host's
 * `errorText` may show it to clients, hence what is left out.
 */
function detailOf(code: ModelErrorCode, error: unknown): string {
  if (error instanceof WordedError) return shorten(messageOf(error))
  if (code === 'bad-response') {
    // A parser's error repeats the answer, except where it says what is wrong with its data; so its cause is read.
    const { cause } = error as { readonly cause?: unknown }
    const text =
      messageOf(cause) || (InvalidResponseDataError.isInstance(error) ? error.message : '')
    return shorten(toOneLine(text.replace(piecesOfAnswer, '')))
  }
  const text = messageOf(error)
  return shorten(toOneLine(code === 'not-authorised' ? withoutKeys(text) : text))
}

/** What JavaScript says of JSON that it cannot parse contains the place where it stopped. */
const piecesOfAnswer = /(?: '.{1,2}')?, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON/s

/** Providers repeat parts of the key that they refuse, and some repeat all of it. */
const keys: readonly (readonly [RegExp, string])[] = [
  // What follows "key:", "token =", "API key provided:" on the same line, unless it is an address.
  [
    /(?<![a-z])((?:key|token|secret|password)\)?(?: \w+)?["'`]?[ \t]*[:=][ \t]*["'`]?|(?:bearer|basic)[ \t]+)(?!https?:)[^\s"'`,;)\]}]+/gi,
    '$1…',
  ],
  // What has a prefix that keys have, or is masked in part.
  [/\b(?:(?:sk|pk|rk|gsk|xai|hf|vck)[-_]|AIza|eyJ)[^\s"'`,;)\]}]+/g, '…'],
  [/[^\s"'`,;()[\]{}]*\*{2,}[^\s"'`,;)\]}]*/g, '…'],
  // What looks random: a model's name has no run of letters and digits that is this long.
  [/(?<![a-z\d])(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{20,}/gi, '…'],
]

const withoutKeys = (text: string): string =>
  keys.reduce((rest, [key, mark]) => rest.replace(key, mark), text.slice(0, longestRead))

/** The patterns above look back over a whole word, which may be as long as the text. */
const longestRead = 2_000
const longestDetail = 300

// oxlint-disable-next-line no-control-regex -- a colour of a terminal begins with ESC
const colours = /\u001B\[[\d;]*m/g

/** One line of a log: the SDK colours some of its texts and breaks them into paragraphs. */
const toOneLine = (text: string): string =>
  text.replaceAll(colours, '').replaceAll(/\s+/g, ' ').trim()

const shorten = (detail: string): string =>
  detail.length <= longestDetail ? detail : `${detail.slice(0, longestDetail).toWellFormed()}…`
