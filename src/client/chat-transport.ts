import { callback, checkOptions, type OptionRule, type OptionTable } from '../core/check-options.ts'
import { withDefined } from '../core/with-defined.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { type ApiOptions, apiRules, createApi, rootOf } from './api.ts'
import type { LoadedMessage } from './loaded-message.ts'
import { resumingStream } from './resuming-stream.ts'

/** A value, or a function that returns it for each request, synchronously or not. */
export type Resolvable<Value> = Value | PromiseLike<Value> | (() => Value | PromiseLike<Value>)

/** Headers as an object or as `Headers`. */
export type HeadersLike = Readonly<Record<string, string>> | Headers

/**
 * The options have the names and meanings of the SDK's own `DefaultChatTransport`, except `api`: the routes are those
 * of the server at `baseUrl`, under its `basePath`.
 */
export interface ChatTransportOptions<Message = LoadedMessage> extends Pick<
  ApiOptions,
  'baseUrl' | 'basePath' | 'fetch'
> {
  /**
   * The major version of the AI SDK in the page: the server sends every chunk type that this version understands.
   * @default what every version from 5.0.92 on understands
   */
  readonly sdk?: SdkVersion
  /** Sent with every request, those of `load` and `stop` too; those of one `sendMessage` take precedence. @default none */
  readonly headers?: Resolvable<HeadersLike>
  /** Additional fields of the body of each message; those of one `sendMessage` take precedence. @default none */
  readonly body?: Resolvable<object>
  /** As in `fetch`. @default as `fetch` has it: to the same origin */
  readonly credentials?: Resolvable<RequestCredentials>
  /** Builds the request of a message: what it returns is sent unchanged. @default none */
  readonly prepareSendMessagesRequest?: (
    request: PreparedRequest & {
      readonly messages: Message[]
      readonly trigger: 'submit-message' | 'regenerate-message'
      readonly messageId: string | undefined
    },
  ) => Changed<RequestChange & { readonly body: object }>
  /** Builds the request that resumes a stream. @default none */
  readonly prepareReconnectToStreamRequest?: (
    request: PreparedRequest,
  ) => Changed<RequestChange> | undefined
}

/** What a `prepare…` function gets: the request as it would be sent. */
export interface PreparedRequest {
  readonly api: string
  readonly id: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: RequestCredentials | undefined
  readonly requestMetadata: unknown
}

/** What a `prepare…` function may change of the request; absent fields stay as they are. */
export interface RequestChange {
  readonly api?: string | undefined
  readonly headers?: HeadersLike | undefined
  readonly credentials?: RequestCredentials | undefined
}
/** A change, or a promise of one. */
export type Changed<Change> = Change | PromiseLike<Change>

/**
 * A value that fits, a promise of one, or a function that returns either: the latter two are checked when they are
 * used.
 */
const resolvable = (
  what: string,
  fits: (value: unknown) => boolean,
  byDefault: string,
): OptionRule => ({
  range: `${what}, a promise of it or a function`,
  fits: (value) => typeof value === 'function' || isPromiseLike(value) || fits(value),
  default: byDefault,
})
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isPromiseLike = (value: unknown): boolean =>
  isObject(value) && typeof (value as { readonly then?: unknown }).then === 'function'
const credentials: readonly unknown[] = ['omit', 'same-origin', 'include']

export const chatTransportRules: OptionTable<ChatTransportOptions> = {
  baseUrl: apiRules.baseUrl,
  basePath: apiRules.basePath,
  fetch: apiRules.fetch,
  sdk: {
    range: '5, 6 or 7',
    fits: (value) => value === 5 || value === 6 || value === 7,
    default: 'what every version from 5.0.92 on understands',
  },
  headers: resolvable('an object of headers', isObject, 'none'),
  body: resolvable('an object', isObject, 'none'),
  credentials: resolvable(
    '"omit", "same-origin" or "include"',
    (value) => credentials.includes(value),
    'as in `fetch`',
  ),
  prepareSendMessagesRequest: callback('none'),
  prepareReconnectToStreamRequest: callback('none'),
}

/** What `useChat` passes with each of its requests. */
export interface RequestOptions {
  /** The thread. */
  readonly chatId: string
  /** Headers of this request, in addition to the transport's. @default none */
  readonly headers?: HeadersLike | undefined
  /** Fields of its body, in addition to the transport's. @default none */
  readonly body?: object | undefined
  /** Passed to `prepareSendMessagesRequest`, and not sent. @default none */
  readonly metadata?: unknown
  /** Ends the reading of the answer, not the run: that is `stop`. @default never */
  readonly abortSignal?: AbortSignal | undefined
}
/** What `useChat` passes when a message is sent or an answer regenerated. */
export interface SendOptions extends RequestOptions {
  /**
   * As the page has them: only the last one, the user's message or the answers to approvals, is sent; the rest comes
   * from the ledger.
   */
  readonly messages: readonly unknown[]
  /** Whether a message is answered, or an answer regenerated. */
  readonly trigger: 'submit-message' | 'regenerate-message'
  /** The message that is replaced. @default a new one; for an answer, the last */
  readonly messageId?: string | undefined
}

/**
 * Fits the `transport` of `useChat` in AI SDK 5, 6 and 7, whatever their message type is. The SDK defines the chunk
 * type, so here it is a type parameter.
 */
export interface ChatTransport<Message = LoadedMessage, Chunk = never> {
  /** A resumed stream begins at the beginning of the turn. */
  readonly resumeStreamIsReplay: true
  /** Sends the newest message and streams the turn that answers it; reconnects where a connection breaks (RS10). */
  sendMessages(options: SendOptions): Promise<ReadableStream<Chunk>>
  /** Streams the live turn from its beginning, with the same reconnects; null where there is nothing to resume. */
  reconnectToStream(options: RequestOptions): Promise<ReadableStream<Chunk> | null>
  /**
   * The initial messages of the chat after a reload: the newest ones, oldest first, without the turn that is being
   * produced. `reconnectToStream` then replays exactly that turn, even if it has just ended.
   */
  load(chatId: string, limit?: number): Promise<Message[]>
  /**
   * Like `load`, for a page that was read elsewhere: by a server component, with `holdfast.messages(id, { live:
   * 'exclude', sdk })`. Null is a chat without messages.
   */
  loadPage(chatId: string, page: LoadedPage | null): Message[]
  /** `useChat`'s own `stop` only closes the stream; this ends the run, from any tab. */
  stop(chatId: string): Promise<void>
}

/** A page of messages as the server returns it: newest first, with the id of the turn that was left out. */
export interface LoadedPage {
  readonly results: readonly unknown[]
  readonly live?: { readonly messageId: string } | null
}

/**
 * The transport for `useChat` with a Holdfast server. An unknown option, or a wrong value, throws an error that names
 * it.
 *
 * @example
 * const transport = createChatTransport({ sdk: 7, headers: () => ({ authorization: token() }) })
 * const before = await transport.load(id)
 * // in a component:
 * const chat = useChat({ id, transport, messages: before, resume: before.length > 0 })
 */
export function createChatTransport<Message = LoadedMessage, Chunk = never>(
  options: ChatTransportOptions<Message> = {},
): ChatTransport<Message, Chunk> {
  const otherNames = { api: 'baseUrl' }
  checkOptions<ChatTransportOptions<Message>>(
    'createChatTransport',
    options,
    chatTransportRules,
    otherNames,
  )
  const { fetch: send, sdk } = options
  const root = rootOf(options)
  const api = createApi(withDefined({}, { fetch: send }))
  const left = new Map<string, string>()
  const addressOf = (path: string, query: Readonly<Record<string, string>> = {}): string => {
    const all = { ...query, ...(sdk === undefined ? {} : { sdk: String(sdk) }) }
    const search = new URLSearchParams(all).toString()
    return `${root}${path}${search === '' ? '' : `?${search}`}`
  }
  const chatPath = (chatId: string, verb: string) =>
    `/api/chat/${encodeURIComponent(chatId)}/${verb}`

  const request = async (more: Partial<RequestOptions> = {}): Promise<Prepared> => {
    const [headers, body, credentials] = await Promise.all([
      resolve(options.headers),
      resolve(options.body),
      resolve(options.credentials),
    ])
    return {
      headers: { ...toRecord(headers), ...toRecord(more.headers) },
      body: { ...body, ...more.body },
      credentials,
      signal: more.abortSignal,
    }
  }

  /** Streams a turn from its beginning: the one of this message, or the live one. */
  const resume = async (
    resuming: RequestOptions,
    message: string | undefined,
    abortSignal: AbortSignal | undefined,
  ): Promise<Response> => {
    const { chatId: id, metadata, headers } = resuming
    const base = await request({ headers, body: resuming.body, abortSignal })
    const address = addressOf(chatPath(id, 'stream'), message === undefined ? {} : { message })
    const change = await options.prepareReconnectToStreamRequest?.(
      toPrepare(base, id, address, metadata),
    )
    return api.open(change?.api ?? address, initOf(base, change))
  }

  const loadPage = (chatId: string, page: LoadedPage | null): Message[] => {
    const live = page?.live ?? null
    if (live === null) left.delete(chatId)
    else left.set(chatId, live.messageId)
    return (page?.results.toReversed() ?? []) as Message[]
  }

  return {
    resumeStreamIsReplay: true,
    loadPage,

    async sendMessages(sending) {
      const { chatId: id, messages, trigger, messageId, abortSignal: signal } = sending
      left.delete(id)
      const post = async (abortSignal: AbortSignal | undefined): Promise<Response> => {
        const base = await request({ ...sending, abortSignal })
        const address = addressOf('/api/chat')
        const change = await options.prepareSendMessagesRequest?.({
          ...toPrepare(base, id, address, sending.metadata),
          messages: messages as Message[],
          trigger,
          messageId,
        })
        // The server has the rest of the history, and trusts only its own; by the last answer it sees whether that is this one.
        const lastAnswer = lastAnswerOf(messages)
        const last = { messages: messages.slice(-1), lastAnswer }
        const own = { ...base.body, id, ...last, trigger, messageId }
        const { headers, ...init } = initOf(base, change)
        return api.open(change?.api ?? address, {
          ...init,
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(change?.body ?? own),
        })
      }
      return resumingStream(await post(signal), {
        signal,
        again(message, until) {
          // Sending the same message twice is idempotent (RS5). Regenerating an answer twice would produce two answers.
          const isSafe = trigger === 'submit-message'
          if (isSafe && (message === undefined || isAnswer(messages))) return post(until)
          return message === undefined ? null : resume(sending, message, until)
        },
      })
    },

    async reconnectToStream(resuming) {
      const { chatId: id, abortSignal: signal } = resuming
      const message = left.get(id)
      left.delete(id)
      const response = await ifThere(resume(resuming, message, signal))
      if (response === null || response.status === 204) return null
      return resumingStream(response, {
        signal,
        again: (started, until) => resume(resuming, started ?? message, until),
      })
    },

    async load(chatId, limit = 50) {
      const path = `/api/threads/${encodeURIComponent(chatId)}/messages`
      const address = addressOf(path, { live: 'exclude', limit: String(limit) })
      const response = await ifThere(api.open(address, initOf(await request())))
      return loadPage(chatId, response === null ? null : ((await response.json()) as LoadedPage))
    },

    async stop(chatId) {
      await api.open(`${root}${chatPath(chatId, 'stop')}`, {
        ...initOf(await request()),
        method: 'POST',
      })
    },
  }
}

interface Prepared {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  readonly credentials: RequestCredentials | undefined
  readonly signal: AbortSignal | undefined
}

const toPrepare = (
  { headers, body, credentials }: Prepared,
  id: string,
  api: string,
  requestMetadata: unknown,
): PreparedRequest => ({ api, id, body, headers, credentials, requestMetadata })

function initOf(base: Prepared, change?: RequestChange) {
  const headers = change?.headers === undefined ? base.headers : toRecord(change.headers)
  const credentials = change?.credentials ?? base.credentials
  return withDefined({ headers }, { credentials, signal: base.signal })
}

const resolve = async <Value>(value: Resolvable<Value> | undefined): Promise<Value | undefined> =>
  typeof value === 'function' ? (value as () => Value | PromiseLike<Value>)() : value

const toRecord = (headers: HeadersLike | undefined): Readonly<Record<string, string>> =>
  headers instanceof Headers ? Object.fromEntries(headers) : (headers ?? {})

/** A chat is created by its first message: one without messages is empty, not an error. */
async function ifThere<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.code === 'thread-not-found') return null
    throw error
  }
}

function lastAnswerOf(messages: readonly unknown[]): unknown {
  const known = messages as readonly { readonly id?: unknown; readonly role?: unknown }[]
  return known.findLast(({ role }) => role === 'assistant')?.id
}

/** A decision of a person, or a result of the page's tools: the page has the turn so far, and is sent what follows. */
const isAnswer = (messages: readonly unknown[]): boolean =>
  (messages.at(-1) as { readonly role?: unknown } | undefined)?.role === 'assistant'
