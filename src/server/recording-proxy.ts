import { callback, checkOptions, oneOfWords, type OptionTable } from '../core/check-options.ts'
import type { Holdfast } from '../engine/create-holdfast.ts'
import type { RecordRequest } from '../engine/record/record-request.ts'
import type { Json } from '../core/json.ts'
import { isJsonObject } from '../core/json.ts'
import { type ChatRequest, parseChatBody } from '../protocol/chat-body.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
import {
  BackendRefusal,
  defaultForwardHeaders,
  type ForwardHeaders,
  openChunks,
  toBackendError,
  toBackendHeaders,
} from './backend-request.ts'
import { checkHoldfast } from './check-arguments.ts'
import { checkChatText } from './check-text.ts'
import { answer } from './answer.ts'
import { mostEventChars } from './check-event.ts'
import { onlyWebRequests } from './only-web-requests.ts'
import { type ForwardedHistory, toBackendBody } from './backend-body.ts'
import { type TurnReply, withReply } from './chat-response.ts'
import {
  basePathOf,
  checkMadeUpId,
  createServerContext,
  isOwned,
  type ServerContext,
} from './context.ts'
import type { Handler } from './create-handler.ts'
import { identify } from './guard.ts'
import type { HandlerOptions } from './handler-options.ts'
import { notFound, runActive } from './http-error.ts'
import { checkHandlerOptions } from './option-rules.ts'
import { readJson } from './read-json.ts'
import type { RouteRequest } from './router.ts'
import { inPlace, isFirst, storeAnswers } from './routes/chat.ts'
import { sdkOf } from './routes/messages.ts'
import { wait } from '../engine/clock.ts'
import { closing } from '../engine/engine.ts'

/** The options of `createRecordingProxy`: those of a handler, and the backend. */
export interface RecordingProxyOptions extends HandlerOptions {
  /** The address of the existing backend's chat route. */
  readonly target: URL
  /**
   * The client's headers that are forwarded to the backend: a list of names, or a function that returns the headers to
   * send. Headers of one connection (`Host`, `Content-Length`, `Connection` …) are never forwarded.
   * @default defaultForwardHeaders: who asks (`authorization`, `cookie`), the language, and trace ids
   */
  readonly forwardHeaders?: ForwardHeaders
  /**
   * The history that the backend is sent in `messages`. `ledger`: what is stored, in the client's format, at most the
   * last thousand messages and 16 MiB, with the client's newest message at the end. `client`: the body as it arrived, with
   * whatever history the client claims.
   * @default 'ledger'
   */
  readonly history?: ForwardedHistory
  /** How the backend is called. @default the platform's `fetch` */
  readonly fetch?: (request: Request) => Promise<Response>
}

const proxyRules: OptionTable<ProxyOnly> = {
  target: { range: 'a URL', fits: (value) => value instanceof URL },
  forwardHeaders: {
    range: 'a list of names of headers, or a function',
    fits: (value) =>
      typeof value === 'function' ||
      (Array.isArray(value) && value.every((name) => typeof name === 'string')),
    default: 'who asks, the language and trace ids',
  },
  history: oneOfWords(['ledger', 'client'], '"ledger"'),
  fetch: callback('the global fetch'),
}
type ProxyOnly = {
  readonly [Name in 'target' | 'forwardHeaders' | 'history' | 'fetch']:
    | RecordingProxyOptions[Name]
    | undefined
}

/**
 * After this time without a response from the backend the stream to the client is opened; a later refusal is then an
 * error in it.
 */
const patienceMs = 10_000

/**
 * Replaces `/api/chat` of an existing chat backend of AI SDK 3 to 7: the message is stored, the backend is called, and
 * its stream is stored as it passes (RS4). The response is what was stored, in the protocol that the client requests. A
 * refusal of the backend (4xx) is passed on to the client, and nothing of it is stored. Pages, resume and stop are the
 * ordinary routes, beside it.
 */
export function createRecordingProxy(holdfast: Holdfast, given: RecordingProxyOptions): Handler {
  checkHoldfast('createRecordingProxy', holdfast)
  const { target, forwardHeaders, history, fetch: customFetch, ...others } = given
  const own = { target, forwardHeaders, history, fetch: customFetch }
  checkOptions('createRecordingProxy', own, proxyRules)
  const options = checkHandlerOptions(others, 'createRecordingProxy')
  const context = createServerContext(holdfast, options)
  const fetchBackend = customFetch ?? fetch
  const forward = forwardHeaders ?? defaultForwardHeaders
  return onlyWebRequests((request) =>
    answer(request, options, async (answering) => {
      const { url } = answering
      answering.route = 'recording-proxy'
      const ownerId = await identify(request, options)
      const basePath = basePathOf(request, url, options)
      const bodyMeter = context.bodies.open(ownerId)
      const route = { request, url, params: {}, ownerId, basePath, bodyMeter }
      return withReply(context, route, async (reply) => {
        const body = await readJson(route, context.limits.bodyBytes)
        const chat = parseSending(body)
        checkChatText(chat, context.limits.textChars)
        // Unlike a loop of the host's own, the backend has not been called yet (OP11).
        if (holdfast.isClosing()) throw closing()
        const { recorded, sent } = await toRecord(context, route, chat)
        const { store } = holdfast
        const backend = fetchLater(async (signal) => {
          const forwarded =
            history === 'client'
              ? body
              : await toBackendBody({ store, body, chat, sdk: sdkOf(url) })
          const response = await fetchBackend(
            new Request(target, {
              method: 'POST',
              headers: toBackendHeaders(request.headers, forward),
              body: JSON.stringify(forwarded),
              // A redirect would be followed with another method and without the credentials.
              redirect: 'manual',
              signal,
            }),
          )
          return openChunks(response, Math.min(context.limits.importBytes, mostEventChars))
        })
        const { threadId } = chat
        const recording = await inPlace(context, route, threadId, () =>
          holdfast.record(backend.chunks, recorded),
        )
        switch (recording.kind) {
          case 'recording': {
            // The client reads the ledger; this copy of the stream is not used.
            recording.stream.cancel().catch(() => undefined)
            const refusal = await backend.refused(holdfast)
            if (refusal !== null) {
              await recording.withdraw()
              return refusal
            }
            return reply({ threadId, turnId: recording.turnId, ...sent })
          }
          case 'joined':
          case 'repeated':
            return reply({ threadId, turnId: recording.turnId })
          case 'run-active':
            throw runActive(recording.turnId)
          default:
            throw notFound('thread')
        }
      }).finally(bodyMeter.release)
    }),
  )
}

type Sending = Extract<ChatRequest, { readonly kind: 'send' | 'answers' }>

/** Regenerating an answer is sending its message again: the backend has no other interface for it. */
function parseSending(body: Json): Sending {
  const chat = parseChatBody(body)
  if (chat.kind !== 'regenerate') return chat
  const { messages } = isJsonObject(body) ? body : {}
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  const messageId = isJsonObject(last) ? (last.id ?? null) : null
  const again = { ...(body as object), trigger: 'submit-message', messageId }
  return parseChatBody(again) as Sending
}

/** Approvals and results of the client are stored, and the turn continues with the backend's response to them. */
async function toRecord(
  context: ServerContext,
  route: RouteRequest,
  chat: Sending,
): Promise<{
  readonly recorded: RecordRequest
  readonly sent?: Pick<TurnReply, 'sent'>
}> {
  if (chat.kind === 'send') {
    // The backend was sent the request unchanged, with its choices.
    const { kind: _, choices: __, whenBusy: ___, lastAnswer: ____, ...message } = chat
    const { threadId } = chat
    const { ownerId } = route
    if (isFirst(chat)) await checkMadeUpId(context, route, threadId)
    // A message that the backend refuses is withdrawn, and with it the thread that it created: `create` must tell exactly
    // whether the thread existed before.
    const thread = await context.holdfast.store.readThread(threadId)
    if (thread === null && isFirst(chat)) return { recorded: { ...message, create: { ownerId } } }
    if (!isOwned(thread, route)) throw notFound('thread')
    return { recorded: { ...message, ownerId } }
  }
  const { sent } = await storeAnswers(context, route, chat)
  const { threadId, messageId: turnId } = chat
  return { recorded: { threadId, continue: turnId, by: route.ownerId }, sent: { sent } }
}

interface Backend {
  readonly chunks: ReadableStream<StreamChunk>
  /** The backend's own response if it refused the message; null once its stream has begun, or if it is slow. */
  refused(holdfast: Holdfast): Promise<Response | null>
}

/** The backend is called only after the message is stored, and not at all if that was refused. */
function fetchLater(
  fetchBackend: (signal: AbortSignal) => Promise<ReadableStream<StreamChunk>>,
): Backend {
  /** Nothing more is wanted of the backend, which may not have responded yet. */
  const left = new AbortController()
  let reader: ReadableStreamDefaultReader<StreamChunk> | undefined
  const opened = Promise.withResolvers<Response | null>()
  const open = async () => {
    try {
      const chunks = await fetchBackend(left.signal)
      opened.resolve(null)
      const opening = chunks.getReader()
      if (left.signal.aborted) await opening.cancel(left.signal.reason)
      return opening
    } catch (error) {
      opened.resolve(error instanceof BackendRefusal ? error.response : null)
      throw toBackendError(error, false)
    }
  }
  const chunks = new ReadableStream<StreamChunk>(
    {
      async pull(controller) {
        reader ??= await open()
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw toBackendError(error, true)
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        opened.resolve(null)
        left.abort(reason)
        await reader?.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return {
    chunks,
    async refused({ clock }) {
      const stop = new AbortController()
      const late = wait(clock, patienceMs, stop.signal).then(() => null)
      return Promise.race([opened.promise, late]).finally(() => stop.abort())
    },
  }
}
