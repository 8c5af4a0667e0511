import { callback, type OptionRule, type OptionTable } from '../core/check-options.ts'
import { isJsonObject } from '../core/json.ts'
import { ApiError } from '../protocol/api-error.ts'

/** Where the server is, and what requests carry. */
export interface ApiOptions {
  /** Where the server is; default: where the page came from. */
  readonly baseUrl?: string
  readonly headers?: () => Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
}

const anyText: OptionRule = {
  range: 'a string',
  fits: (value) => typeof value === 'string',
  default: 'where the page came from',
}

export const apiRules: OptionTable<ApiOptions> = {
  baseUrl: anyText,
  headers: callback('none'),
  fetch: callback('the browser’s own'),
}

/** Requests to a Holdfast server. Each rejects with an `ApiError` when it was not answered with success. */
export interface Api {
  /** Reads JSON. What it is, is for the caller to know; it is not checked. */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>
  /** Sends JSON and reads JSON. */
  post<Answer>(path: string, body: unknown): Promise<Answer>
  /** Sends JSON and reads JSON. */
  patch<Answer>(path: string, body: unknown): Promise<Answer>
  /** Goes through also when the page is being left. */
  delete(path: string): Promise<void>
  /** A request whose answer is a stream, or of no interest. */
  open(path: string, init?: RequestInit): Promise<Response>
}

export function createApi(options: ApiOptions = {}): Api {
  const { baseUrl = '' } = options
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))

  const open = async (path: string, init: RequestInit = {}): Promise<Response> => {
    let response: Response
    try {
      response = await send(`${baseUrl}${path}`, {
        ...init,
        headers: { ...options.headers?.(), ...(init.headers as Record<string, string>) },
      })
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      throw new ApiError(0, 'unreachable', 'The server cannot be reached.')
    }
    if (!response.ok) throw await toApiError(response)
    return response
  }

  const withBody = async <Answer>(method: string, path: string, body: unknown): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' }
    const response = await open(path, { method, headers, body: JSON.stringify(body) })
    return (await response.json()) as Answer
  }

  return {
    open,
    async get<Answer>(path: string, signal?: AbortSignal) {
      const response = await open(path, signal === undefined ? {} : { signal })
      return (await response.json()) as Answer
    },
    post: (path, body) => withBody('POST', path, body),
    patch: (path, body) => withBody('PATCH', path, body),
    async delete(path) {
      // A page that is being left still gets it done.
      await open(path, { method: 'DELETE', keepalive: true })
    },
  }
}

async function toApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const { code, message, ...details } = error
  return new ApiError(
    response.status,
    typeof code === 'string' ? code : 'http-error',
    typeof message === 'string' ? message : `The server answered ${response.status}.`,
    details,
  )
}
