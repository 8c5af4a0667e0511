import { ApiError } from '../protocol/api-error.ts'
import { isEventStream, isFinal } from './api.ts'
import { backOffMs } from './connection.ts'
import { type ClientClock, createNetwork, type Network, systemClock } from './network.ts'
import { readSse } from './read-sse.ts'
import {
  type AnyChunk,
  createResumedChunks,
  isLastChunk,
  type ResumedChunks,
} from './resume-chunks.ts'

export interface ResumingStreamOptions {
  /**
   * Requests the turn again, from the same beginning. The id is that of its message, if it is known. `null`: there is
   * nothing to request, or it no longer exists.
   */
  readonly again: (
    messageId: string | undefined,
    signal: AbortSignal,
  ) => Promise<Response | null> | null
  /** Ends the reading. */
  readonly signal: AbortSignal | undefined
  readonly clock?: ClientClock
  readonly network?: Network
  readonly random?: () => number
}

/** How long reconnecting is tried after a stream that delivered something new. */
const patienceMs = 60_000

/**
 * The chunks of a turn, each once, over as many streams as necessary (RS10). When no further stream can be opened, it
 * ends as the broken one has ended.
 */
export function resumingStream<Chunk>(
  first: Response,
  options: ResumingStreamOptions,
): ReadableStream<Chunk> {
  const left = new AbortController()
  const { signal } = options
  const leave = () => left.abort(signal?.reason)
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted === true) leave()
  const chunks = follow(eventsOf(first), options, left.signal)
  return new ReadableStream<Chunk>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value as unknown as Chunk)
    },
    cancel() {
      leave()
      void chunks.return().catch(() => undefined)
    },
  })
}

type Events = ReturnType<typeof readSse>

/** How a stream ended. */
type End =
  | { readonly kind: 'complete' }
  /** The stream belongs to another turn. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'broken'; readonly hadChunks: boolean; readonly end: () => void }

async function* follow(
  first: Events,
  {
    again,
    clock = systemClock,
    network = createNetwork(clock),
    random = Math.random,
  }: ResumingStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<AnyChunk, void> {
  const received = createResumedChunks()
  let end = yield* passOn(first, received)
  if (end.kind !== 'broken') return
  let endAsBroken = end.end
  let attempt = 0
  let retryAfterMs = 0
  let until = clock.now() + patienceMs
  for (;;) {
    // A reader that has left gets its own abort reason, not the broken connection.
    signal.throwIfAborted()
    await network.wait(backOffMs(++attempt, random(), retryAfterMs), signal)
    signal.throwIfAborted()
    const opened = await open(() => again(received.messageId(), signal))
    signal.throwIfAborted()
    retryAfterMs = opened.kind === 'later' ? opened.retryAfterMs : 0
    if (opened.kind === 'never') return endAsBroken()
    if (opened.kind === 'open') {
      received.restart()
      end = yield* passOn(opened.events, received)
      if (end.kind === 'complete') return
      if (end.kind === 'foreign') return endAsBroken()
      if (end.hadChunks) {
        endAsBroken = end.end
        attempt = 0
        until = clock.now() + patienceMs
      }
    }
    if (clock.now() >= until) return endAsBroken()
  }
}

/** Passes on what is new in a stream, until it ends. */
async function* passOn(events: Events, received: ResumedChunks): AsyncGenerator<AnyChunk, End> {
  let hadChunks = false
  let isOver = false
  const broken = (end: () => void): End =>
    isOver ? { kind: 'complete' } : { kind: 'broken', hadChunks, end }
  try {
    for (;;) {
      const item = await events.next().catch((error: unknown) => ({ error }))
      if ('error' in item) {
        return broken(() => {
          throw item.error
        })
      }
      if (item.done === true) return broken(() => {})
      if (item.value.data === '[DONE]') return { kind: 'complete' }
      const chunk = JSON.parse(item.value.data) as AnyChunk
      if (isOfAnother(chunk, received)) return { kind: 'foreign' }
      const fresh = received.next(chunk)
      isOver ||= isLastChunk(chunk)
      if (fresh === null) continue
      hadChunks = true
      yield fresh
    }
  } finally {
    void events.return().catch(() => undefined)
  }
}

/** An address of the host application need not return the requested turn. */
const isOfAnother = ({ type, messageId }: AnyChunk, received: ResumedChunks): boolean =>
  type === 'start' && received.messageId() !== undefined && messageId !== received.messageId()

type Opened =
  | { readonly kind: 'open'; readonly events: Events }
  | { readonly kind: 'later'; readonly retryAfterMs: number }
  | { readonly kind: 'never' }

async function open(request: () => Promise<Response | null> | null): Promise<Opened> {
  try {
    const response = await request()
    if (response === null || response.status === 204) return { kind: 'never' }
    return { kind: 'open', events: eventsOf(response) }
  } catch (error) {
    // An error that is no response of the server comes from the host application's own callbacks.
    return !(error instanceof ApiError) || isFinal(error)
      ? { kind: 'never' }
      : { kind: 'later', retryAfterMs: error.retryAfterMs }
  }
}

function eventsOf(response: Response): Events {
  if (!isEventStream(response)) {
    // Otherwise a page of a proxy would be an empty answer.
    response.body?.cancel().catch(() => undefined)
    throw new ApiError(response.status, 'bad-answer', 'The response of the server is not a stream.')
  }
  return readSse(response.body as ReadableStream<Uint8Array>)
}
