import type { Holdfast } from '../engine/create-holdfast.ts'
import { parseChatBody } from '../protocol/chat-body.ts'
import type { StreamChunk } from '../protocol/data-stream/stream-chunk.ts'
import { withReply } from './chat-response.ts'
import { createServerContext } from './context.ts'
import type { Handler } from './create-handler.ts'
import { checkOrigin, identify } from './guard.ts'
import type { HandlerOptions } from './handler-options.ts'
import { ApiError } from '../protocol/api-error.ts'
import { badRequest, notFound, toErrorResponse } from './http-error.ts'
import { readJson } from './read-json.ts'
import { runActive, toSend } from './routes/chat.ts'
import { linesOf, translateDataStream } from './translate-data-stream.ts'

export interface RecordingProxyOptions extends HandlerOptions {
  /** Where the old backend takes its chats. */
  readonly target: URL
  readonly fetch?: (request: Request) => Promise<Response>
}

/**
 * Stands before a chat backend of somebody's own, of AI SDK 3 to 7, and takes its place at `/api/chat`:
 * the message is stored, the backend is asked, and what it streams is stored as it passes (RS4). The
 * answer is what was stored, in the protocol that the client asks for. Pages, resume and stop are the
 * ordinary routes, beside it.
 */
export function createRecordingProxy(holdfast: Holdfast, options: RecordingProxyOptions): Handler {
  const context = createServerContext(holdfast, options)
  const ask = options.fetch ?? fetch
  return async (request) => {
    const url = new URL(request.url)
    try {
      checkOrigin(request, url, options)
      const route = { request, url, params: {}, ownerId: await identify(request, options) }
      return await withReply(context, route, async (reply) => {
        const body = await readJson(request, context.limits.bodyBytes)
        const chat = parseChatBody(body)
        if (chat.kind !== 'send') throw badRequest('This backend takes new messages only.')
        const sending = await toSend(context, route, chat)
        const chunks = askLater(() =>
          ask(
            new Request(options.target, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }),
          ),
        )
        const recording = await holdfast.record(chunks, sending)
        const { threadId } = chat
        switch (recording.kind) {
          case 'recording':
            // The reader reads the ledger; this copy of the stream is nobody's.
            void recording.stream.cancel()
            return reply({ threadId, turnId: recording.turnId })
          case 'joined':
          case 'repeated':
            return reply({ threadId, turnId: recording.turnId })
          case 'run-active':
            throw runActive(recording.turnId)
          default:
            throw notFound('thread')
        }
      })
    } catch (error) {
      return toErrorResponse(error)
    }
  }
}

/** The backend is asked only once the message is stored, and not at all if it was refused. */
function askLater(ask: () => Promise<Response>): ReadableStream<StreamChunk> {
  let reader: ReadableStreamDefaultReader<StreamChunk> | undefined
  return new ReadableStream<StreamChunk>(
    {
      async pull(controller) {
        reader ??= (await openChunks(await ask())).getReader()
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

async function openChunks(response: Response): Promise<ReadableStream<StreamChunk>> {
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new ApiError(502, 'backend', `The backend answered ${response.status}.`)
  }
  const reader = response.body.getReader()
  const { value: first = new Uint8Array() } = await reader.read()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  // Some backends send one protocol under the other's header: what it begins with tells.
  const isEvents = /^(data|event|id|retry)?:/.test(new TextDecoder().decode(first))
  return isEvents ? chunksOfEvents(body) : translateDataStream(body, { approvals: true })
}

function chunksOfEvents(body: ReadableStream<Uint8Array>): ReadableStream<StreamChunk> {
  return linesOf(body).pipeThrough(
    new TransformStream<string, StreamChunk>({
      transform(line, controller) {
        const data = /^data: ?(.*)$/.exec(line)?.[1]
        if (data === undefined || data === '[DONE]') return
        controller.enqueue(JSON.parse(data) as StreamChunk)
      },
    }),
  )
}
