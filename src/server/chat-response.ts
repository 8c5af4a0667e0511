import { createDataStreamWriter } from '../protocol/data-stream/write-data-stream.ts'
import { oneOf, type ServerContext } from './context.ts'
import { sdkOf } from './routes/messages.ts'
import type { RouteRequest } from './router.ts'
import { sseData, toSseResponse, toStreamResponse } from '../engine/sse.ts'
import { streamTurn, type TurnStreamQuery } from '../engine/turn-stream.ts'

/** Answers with a turn as it is stored. The run does not know who reads it (RS1). */
export type Reply = (query: Omit<TurnStreamQuery, 'sdk'>) => Response

/**
 * Everything that a streamed answer can be refused for is looked at before the work: what was asked
 * for must not have begun when the answer says no (HT3).
 */
export async function withReply(
  context: ServerContext,
  { url, ownerId }: RouteRequest,
  work: (reply: Reply) => Promise<Response>,
): Promise<Response> {
  const { holdfast, keepAliveMs, followers } = context
  const sdk = sdkOf(url)
  const isOld = oneOf(url, 'protocol', ['data-stream', 'ui-message-stream']) === 'data-stream'
  const onClose = followers.take(ownerId)
  let isOpen = false
  const reply: Reply = (query) => {
    isOpen = true
    const chunks = (signal: AbortSignal) => streamTurn(holdfast, { ...query, sdk }, signal)
    return isOld
      ? dataStreamResponse(chunks, onClose)
      : uiStreamResponse(chunks, onClose, keepAliveMs)
  }
  try {
    return await work(reply)
  } finally {
    if (!isOpen) onClose()
  }
}

type Chunks = (signal: AbortSignal) => ReturnType<typeof streamTurn>

function uiStreamResponse(chunks: Chunks, onClose: () => void, keepAliveMs: number): Response {
  const source = async function* (signal: AbortSignal): AsyncGenerator<string, void> {
    for await (const some of chunks(signal)) yield some.map(sseData).join('')
    yield 'data: [DONE]\n\n'
  }
  const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
  return toSseResponse(source, { keepAliveMs, headers, onClose })
}

/** For front ends of AI SDK 3 and 4 (RS4). Its lines have no comments, so nothing keeps it alive. */
function dataStreamResponse(chunks: Chunks, onClose: () => void): Response {
  const source = async function* (signal: AbortSignal): AsyncGenerator<string, void> {
    const write = createDataStreamWriter()
    for await (const some of chunks(signal)) {
      const lines = some.map(write).join('')
      if (lines !== '') yield lines
    }
  }
  return toStreamResponse(source, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-vercel-ai-data-stream': 'v1',
      'cache-control': 'no-cache, no-transform',
    },
    onClose,
  })
}
