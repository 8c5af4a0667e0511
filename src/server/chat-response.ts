import { createAnnotationWriter } from '../protocol/data-stream/write-annotations.ts'
import { createDataStreamWriter } from '../protocol/data-stream/write-data-stream.ts'
import { projectVercelAnnotations } from '../views/vercel-message.ts'
import { oneOf, type ServerContext } from './context.ts'
import type { HistoryNote } from '../views/history-note.ts'
import type { SavingNote } from '../views/saving-note.ts'
import { sdkOf } from './routes/messages.ts'
import type { RouteRequest } from './router.ts'
import type { ByteStreamOptions } from '../engine/follow/byte-stream.ts'
import { encodeSseData, sseData, toSseResponse, toStreamResponse } from '../engine/follow/sse.ts'
import {
  streamTurn,
  type TurnFeed,
  type TurnMove,
  type TurnStreamQuery,
} from '../engine/follow/turn-stream.ts'
import { awaitTurn } from '../engine/follow/await-turn.ts'
import type { FollowedPlace } from '../engine/follow/hub.ts'
import type { MessageId, ThreadId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'

/** Responds with a stored turn, and a note before it. The run is independent of its readers (RS1). */
export type Reply = (query: TurnReply | WaitingReply, note?: HistoryNote) => Response

export type TurnReply = Omit<TurnStreamQuery, 'sdk'>

/** The turn that answers a queued input; streamed when it begins (IN1). */
export interface WaitingReply {
  readonly threadId: ThreadId
  readonly waiting: { readonly messageId: MessageId; readonly after: FollowedPlace }
}

/**
 * Everything that a streamed response can be refused for is checked before the work: a request that is refused must not
 * have had an effect (HT3).
 */
export async function withReply(
  context: ServerContext,
  { url, ownerId, basePath }: RouteRequest,
  work: (reply: Reply) => Promise<Response>,
): Promise<Response> {
  const { holdfast, keepAliveMs, followers, saving, inFlight, reads } = context
  const sdk = sdkOf(url)
  const isOld = oneOf(url, 'protocol', ['data-stream', 'ui-message-stream']) === 'data-stream'
  inFlight.admit(ownerId)
  const onClose = followers.acquire(ownerId)
  const meter = inFlight.meterOf(ownerId)
  const gate = reads.gateOf(ownerId)
  let isOpen = false
  const reply: Reply = (query, note) => {
    isOpen = true
    const notes: WatchNotes = (send) => {
      if (note !== undefined) send(note)
      return saving.watch(send)
    }
    // AI SDK 4 has no approvals, like version 5: a rejected call is sent as a failed one.
    const how = { sdk: isOld ? 5 : sdk, basePath, gate } as const
    const moves: Moves = (signal) =>
      'waiting' in query
        ? streamWhenBegun(holdfast, query, how, signal)
        : streamTurn(holdfast, { ...query, ...how }, signal)
    return isOld
      ? dataStreamResponse(moves, { onClose, meter }, notes)
      : uiStreamResponse(moves, { onClose, meter }, keepAliveMs, notes)
  }
  try {
    return await work(reply)
  } finally {
    if (!isOpen) onClose()
  }
}

type WatchNotes = (send: (note: SavingNote | HistoryNote) => void) => () => void
type StreamEnds = Pick<ByteStreamOptions, 'onClose' | 'meter'>
type Moves = (signal: AbortSignal) => AsyncGenerator<TurnMove | NoTurn, void>

/** There will be no turn: the input was withdrawn or held. */
interface NoTurn {
  readonly turn: null
  readonly chunks: readonly [{ readonly type: 'abort' }]
}

async function* streamWhenBegun(
  feed: TurnFeed,
  { threadId, waiting }: WaitingReply,
  how: Pick<TurnStreamQuery, 'sdk' | 'basePath' | 'gate'>,
  signal: AbortSignal,
): AsyncGenerator<TurnMove | NoTurn, void> {
  const gate = withDefined({}, { gate: how.gate })
  const turnId = await awaitTurn(feed, { threadId, ...waiting, ...gate }, signal)
  if (turnId === null) yield { turn: null, chunks: [{ type: 'abort' }] }
  else yield* streamTurn(feed, { threadId, turnId, ...how }, signal)
}

/** Transient, so not a part of the message: a client that stored it would differ from the page. */
const toNoteChunk = (data: SavingNote | HistoryNote) =>
  ({ type: 'data-holdfast', data, transient: true }) as const

function uiStreamResponse(
  moves: Moves,
  ends: StreamEnds,
  keepAliveMs: number,
  watchNotes: WatchNotes,
): Response {
  const source = async function* (signal: AbortSignal): AsyncGenerator<string | Uint8Array, void> {
    for await (const { chunks } of moves(signal)) {
      if (chunks.length > 0) yield encodeSseData(chunks)
    }
    yield 'data: [DONE]\n\n'
  }
  const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
  const aside = (send: (text: string) => void) =>
    watchNotes((note) => send(sseData(toNoteChunk(note))))
  return toSseResponse(source, { keepAliveMs, headers, aside, ...ends })
}

/** For front ends of AI SDK 3 and 4 (RS4). Its lines have no comments, so there is no keep-alive. */
function dataStreamResponse(moves: Moves, ends: StreamEnds, watchNotes: WatchNotes): Response {
  const write = createDataStreamWriter()
  const annotate = createAnnotationWriter()
  const source = async function* (signal: AbortSignal): AsyncGenerator<string, void> {
    for await (const { turn, chunks } of moves(signal)) {
      // Such a client ignores what follows an error, and most of what follows the end, so annotations go before it.
      const end = chunks.findIndex(({ type }) => type === 'finish' || type === 'error')
      const [before, after] = end === -1 ? [chunks, []] : [chunks.slice(0, end), chunks.slice(end)]
      const notes = turn === null ? '' : annotate(projectVercelAnnotations(turn))
      const lines = `${before.map(write).join('')}${notes}${after.map(write).join('')}`
      if (lines !== '') yield lines
    }
  }
  return toStreamResponse(source, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-vercel-ai-data-stream': 'v1',
      'cache-control': 'no-cache, no-transform',
    },
    ...ends,
    aside: (send) => watchNotes((note) => send(write(toNoteChunk(note)))),
  })
}
