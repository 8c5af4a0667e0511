import { ApiError } from '../protocol/api-error.ts'
import type { UiChunk } from '../views/ui-chunk.ts'
import type { UiMessage } from '../views/ui-message.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { type ApiOptions, createApi } from './api.ts'
import { readSse } from './read-sse.ts'

export interface ChatTransportOptions extends ApiOptions {
  /** Of the AI SDK that the page runs: it is told all that this version understands. */
  readonly sdk?: SdkVersion
}

interface SendOptions<Message> {
  readonly chatId: string
  readonly messages: readonly Message[]
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly messageId?: string | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** Fits the `transport` of `useChat` in AI SDK 5, 6 and 7, whatever their message type is. */
export interface ChatTransport<Message = UiMessage, Chunk = UiChunk> {
  readonly resumeStreamIsReplay: true
  sendMessages(options: SendOptions<Message>): Promise<ReadableStream<Chunk>>
  reconnectToStream(options: { readonly chatId: string }): Promise<ReadableStream<Chunk> | null>
  /**
   * What the chat begins with after a reload: the newest messages, oldest first, without the turn that
   * is being produced. `reconnectToStream` then replays exactly that turn, even if it has just ended.
   */
  load(chatId: string, limit?: number): Promise<Message[]>
  /** `useChat`'s own `stop` only leaves; this ends the run, from any tab. */
  stop(chatId: string): Promise<void>
}

export function createChatTransport<Message = UiMessage, Chunk = UiChunk>(
  options: ChatTransportOptions = {},
): ChatTransport<Message, Chunk> {
  const api = createApi(options)
  const left = new Map<string, string>()
  const addressOf = (path: string, query: Readonly<Record<string, string>> = {}): string => {
    const all = { ...query, ...(options.sdk === undefined ? {} : { sdk: String(options.sdk) }) }
    const search = new URLSearchParams(all).toString()
    return search === '' ? path : `${path}?${search}`
  }
  const chatPath = (chatId: string, verb: string) =>
    `/api/chat/${encodeURIComponent(chatId)}/${verb}`

  return {
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, trigger, messageId, abortSignal }) {
      left.delete(chatId)
      // The server has the rest of the history, and believes only that.
      const body = { id: chatId, messages: messages.slice(-1), trigger, messageId }
      const response = await api.open(addressOf('/api/chat'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(abortSignal === undefined ? {} : { signal: abortSignal }),
      })
      return chunksOf(response)
    },

    async reconnectToStream({ chatId }) {
      const message = left.get(chatId)
      left.delete(chatId)
      const query = message === undefined ? {} : { message }
      const response = await ifThere(api.open(addressOf(chatPath(chatId, 'stream'), query)))
      return response === null || response.status === 204 ? null : chunksOf(response)
    },

    async load(chatId, limit = 50) {
      const path = `/api/threads/${encodeURIComponent(chatId)}/messages`
      const page = await ifThere(
        api.get<{
          readonly results: readonly Message[]
          readonly live: { readonly messageId: string } | null
        }>(addressOf(path, { live: 'exclude', limit: String(limit) })),
      )
      const live = page?.live ?? null
      if (live === null) left.delete(chatId)
      else left.set(chatId, live.messageId)
      return page?.results.toReversed() ?? []
    },

    async stop(chatId) {
      await api.open(chatPath(chatId, 'stop'), { method: 'POST' })
    },
  }
}

/** A chat begins with its first message: one that nobody has written to yet is empty, not an error. */
async function ifThere<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && error.code === 'thread-not-found') return null
    throw error
  }
}

function chunksOf<Chunk>(response: Response): ReadableStream<Chunk> {
  const events = readSse(response.body as ReadableStream<Uint8Array>)
  return new ReadableStream<Chunk>({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done === true || value.data === '[DONE]') controller.close()
      else controller.enqueue(JSON.parse(value.data) as Chunk)
    },
    cancel: async () => void (await events.return()),
  })
}
