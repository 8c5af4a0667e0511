import { callback, checkOptions, type OptionRule, type OptionTable } from '../core/check-options.ts'
import { isJsonObject } from '../core/json.ts'
import { ApiError } from '../protocol/api-error.ts'
import { basePathRule, toBasePath } from '../protocol/base-path.ts'
import { type ClientClock, systemClock } from './network.ts'

/** The server's address, and the headers of requests. */
export interface ApiOptions {
  /**
   * The server's address: an origin, or an address at which a proxy serves it. A trailing slash makes no difference.
   * @default where the page came from
   */
  readonly baseUrl?: string
  /**
   * The path prefix of the server's routes, as in its own option `basePath`: `/chat/v1`. `''` and `'/'` are none. If it
   * differs from the server's, every response is 404.
   * @default none
   */
  readonly basePath?: string
  /**
   * Called for each request, so that a token may change from one to the next.
   *
   * @default none
   */
  readonly headers?: () => Readonly<Record<string, string>>
  /**
   * Sends each request: to change it, or to script the network in a test.
   * @default the browser’s own
   */
  readonly fetch?: typeof fetch
}

const anyText: OptionRule = {
  range: 'a string',
  fits: (value) => typeof value === 'string',
  default: 'where the page came from',
}

export const apiRules: OptionTable<ApiOptions> = {
  baseUrl: anyText,
  basePath: basePathRule,
  headers: callback('none'),
  fetch: callback('the browser’s own'),
}

/** Requests to a Holdfast server. Each rejects with an `ApiError` unless the response is a success. */
export interface Api {
  /** Reads JSON. Its type is the caller's assertion; it is not checked. */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>
  /** Sends JSON and reads JSON. */
  post<Answer>(path: string, body: unknown): Promise<Answer>
  /** Sends JSON and reads JSON. */
  patch<Answer>(path: string, body: unknown): Promise<Answer>
  /** Completes even while the page is being left. */
  delete(path: string): Promise<void>
  /** A request whose response is a stream, or is not needed. */
  open(path: string, init?: RequestInit): Promise<Response>
}

/** The routes of a server, for what the clients here do not cover. An unsuccessful response is an `ApiError`. */
export function createApi(options: ApiOptions = {}): Api {
  checkOptions('createApi', options, apiRules)
  return createTimedApi(options, systemClock)
}

/** The prefix of every route's address. */
export const rootOf = ({
  baseUrl = '',
  basePath = '',
}: Pick<ApiOptions, 'baseUrl' | 'basePath'>): string =>
  `${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}${toBasePath(basePath) ?? ''}`

/** The same, with the clock of the client that it belongs to. */
export function createTimedApi(options: ApiOptions, clock: ClientClock): Api {
  const root = rootOf(options)
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))

  const open = async (path: string, init: RequestInit = {}): Promise<Response> => {
    // Outside the try: an error in the host application's function is no network error.
    const headers = { ...options.headers?.(), ...(init.headers as Record<string, string>) }
    const response = await answerOf(() => send(`${root}${path}`, { ...init, headers }), init)
    if (!response.ok) throw await toApiError(response, clock)
    return response
  }

  const withBody = async <Answer>(method: string, path: string, body: unknown): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' }
    return readJson<Answer>(await open(path, { method, headers, body: JSON.stringify(body) }))
  }

  return {
    open,
    async get<Answer>(path: string, signal?: AbortSignal) {
      return readJson<Answer>(await open(path, signal === undefined ? {} : { signal }), signal)
    },
    post: (path, body) => withBody('POST', path, body),
    patch: (path, body) => withBody('PATCH', path, body),
    async delete(path) {
      // `keepalive`, so that a page that is being left still completes it.
      await open(path, { method: 'DELETE', keepalive: true })
    },
  }
}

/** A retry would get the same response, until a person does something about it. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  ![408, 425, 429].includes(error.status)

/** A page of a proxy or of a sign-in is no event stream, whatever its status. */
export const isEventStream = (response: Response): boolean =>
  (response.headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream')

async function answerOf(send: () => Promise<Response>, { signal }: RequestInit): Promise<Response> {
  let sent: Promise<Response> | undefined
  try {
    signal?.throwIfAborted()
    sent = send()
    return await untilAborted(sent, signal)
  } catch (error) {
    if (signal?.aborted !== true) {
      throw new ApiError(0, 'unreachable', 'The server cannot be reached.')
    }
    // A response that arrives after all, because `fetch` ignores the signal, must not stay open.
    sent?.then(({ body }) => body?.cancel()).catch(() => undefined)
    throw error
  }
}

/** The JSON of a response; its type is the caller's assertion. What cannot be read is an `ApiError`, as for every request. */
export async function readJson<Answer>(response: Response, signal?: AbortSignal): Promise<Answer> {
  try {
    return (await untilAborted(response.json(), signal)) as Answer
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw error instanceof SyntaxError
      ? new ApiError(response.status, 'bad-answer', 'The response of the server cannot be read.')
      : new ApiError(0, 'unreachable', 'The answer of the server broke off.')
  }
}

/** Rejects when the signal aborts, whatever happens to the promise. */
async function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | null | undefined,
): Promise<Value> {
  if (signal == null) return promise
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function toApiError(response: Response, clock: ClientClock): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const { code, message, ...details } = error
  return new ApiError(
    response.status,
    typeof code === 'string' ? code : 'http-error',
    typeof message === 'string' ? message : `The server responded with ${response.status}.`,
    details,
    retryAfterMs(response.headers, clock),
  )
}

/** A longer `Retry-After` is cut to this: the server may be back sooner than it expected. */
const longestRetryAfterMs = 300_000

/** `Retry-After` in seconds, or as a date relative to the server's own `Date` header where there is one. */
function retryAfterMs(headers: Headers, clock: ClientClock): number {
  const value = headers.get('retry-after')?.trim() ?? ''
  const now = Date.parse(headers.get('date') ?? '')
  const ms = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - (Number.isNaN(now) ? clock.now() : now)
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), longestRetryAfterMs)
}
