import assert from 'node:assert/strict'
import type { ShownInput } from '../../views/queue-view.ts'
import type { UiMessage } from '../../views/ui-message.ts'
import type { HttpFixture } from './http-rule.ts'

type Headers = Readonly<Record<string, string>>

export interface Answer<Body> {
  readonly status: number
  readonly contentType: string
  readonly body: Body
}

export interface ErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly [detail: string]: unknown
  }
}
export interface ThreadBody {
  readonly id: string
  readonly title: string
  readonly titledBy: 'person' | 'model' | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly queue: readonly ShownInput[]
}
export interface PageBody<Item = UiMessage> {
  readonly results: readonly Item[]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly seq: number
  readonly place: string
  readonly live?: { readonly messageId: string } | null
  readonly queue: readonly ShownInput[]
}

/** A browser session, as far as a rule needs one. */
export interface HttpClient {
  readonly baseUrl: string
  readonly headers: Headers
  /** The response is JSON or empty; `Body` is the rule's assertion. */
  get<Body>(path: string): Promise<Answer<Body>>
  send<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>>
  post<Body>(path: string, body?: unknown): Promise<Answer<Body>>
  /** For streamed responses, and for unusual requests. */
  open(path: string, init?: RequestInit): Promise<Response>
}

export function createHttpClient(
  { baseUrl, headersOf }: HttpFixture,
  owner: 'one' | 'other' = 'one',
): HttpClient {
  const headers = headersOf?.(owner) ?? {}
  const open = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, baseUrl), { ...init, headers: { ...headers, ...toRecord(init.headers) } })
  const request = async <Body>(path: string, init?: RequestInit): Promise<Answer<Body>> => {
    const response = await open(path, init)
    const text = await response.text()
    const contentType = response.headers.get('content-type') ?? ''
    const isJson = contentType.startsWith('application/json')
    assert.equal(isJson, text !== '', `${path} answers ${response.status} with ${contentType}`)
    return { status: response.status, contentType, body: (text && JSON.parse(text)) as Body }
  }
  const send = <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> =>
    request(path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  return {
    baseUrl,
    headers,
    open,
    send,
    get: (path) => request(path),
    post: (path, body) => send('POST', path, body),
  }
}

const toRecord = (headers: RequestInit['headers']): Headers =>
  (headers ?? {}) as Readonly<Record<string, string>>

/** An error has a code and contains nothing internal (HT1). */
export function assertError(
  answer: Answer<unknown>,
  status: number,
  code?: string,
): ErrorBody['error'] {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  const { error } = answer.body as ErrorBody
  assert.equal(typeof error.code, 'string')
  assert.equal(typeof error.message, 'string')
  if (code !== undefined) assert.equal(error.code, code)
  assert.doesNotMatch(JSON.stringify(answer.body), /\bat .+:\d+:\d+|select |insert |node_modules/i)
  return error
}

export const newId = (prefix: string): string => `${prefix}-${crypto.randomUUID()}`
