import type { SseEvent } from '../../src/protocol/sse.ts'
import { readStream } from './http.ts'
import type { OpenStream, TortureContext } from './torture-context.ts'

interface ReadAnswer {
  /** 0: none came. */
  readonly status: number
  readonly turnId: string | undefined
  readonly isWhole: boolean
  /** The code of the error, where it was refused. */
  readonly refusal: string
}

/** Reads a stream of the AI SDK, and remembers what it was shown. */
export async function readAnswer(
  context: TortureContext,
  url: string,
  asked: { readonly owner: string; readonly body?: string },
  threadId: string,
  onBegun: () => void = () => undefined,
): Promise<ReadAnswer> {
  let turnId: string | undefined
  let isWhole = false
  const texts = new Map<string, string>()
  let refusal = ''
  // A stream that never ends must not keep the run from ending: it is reported, and left.
  const leave = new AbortController()
  const onLeaving = () => leave.abort()
  context.leaving.addEventListener('abort', onLeaving)
  const stream: OpenStream = {
    ...{ threadId, owner: asked.owner, url, turnId: undefined },
    lastChunk: 'nothing',
    lastChunkAt: performance.now(),
  }
  context.streams.add(stream)
  const onEvent = ({ data, event }: SseEvent) => {
    if (event !== undefined) return
    if (data === '[DONE]') {
      isWhole = true
      return
    }
    const chunk = JSON.parse(data) as Chunk
    stream.lastChunk = data.slice(0, 200)
    stream.lastChunkAt = performance.now()
    if (chunk.type === 'start' && chunk.messageId !== undefined) {
      turnId = chunk.messageId
      stream.turnId = turnId
      onBegun()
    }
    if (turnId === undefined) return
    const turn = context.shown.turnOf(threadId, turnId)
    if (chunk.type === 'text-start') texts.set(chunk.id ?? '', '')
    if (chunk.type === 'text-delta') {
      const text = `${texts.get(chunk.id ?? '') ?? ''}${chunk.delta ?? ''}`
      texts.set(chunk.id ?? '', text)
      turn.addText(text)
    }
    if (chunk.toolCallId === undefined) return
    const isFinal = chunk.type === 'tool-output-available' && chunk.preliminary !== true
    turn.addCall(chunk.toolCallId, isFinal ? chunk.output : undefined)
  }
  const status = await readStream(url, asked, leave, onEvent, (code) => {
    refusal = code
  })
  context.streams.delete(stream)
  context.leaving.removeEventListener('abort', onLeaving)
  return { status, turnId, isWhole, refusal }
}

interface Chunk {
  readonly type: string
  readonly messageId?: string
  readonly id?: string
  readonly delta?: string
  readonly toolCallId?: string
  readonly output?: unknown
  readonly preliminary?: boolean
}
