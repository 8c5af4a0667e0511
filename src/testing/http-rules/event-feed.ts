import assert from 'node:assert/strict'
import { readSseItems } from '../../client/read-sse.ts'
import { foldThread, type ThreadView } from '../../core/fold-thread.ts'
import { type EventFrame, toChanges } from '../../protocol/event-frame.ts'
import type { HttpClient } from './http-client.ts'

export interface Feed {
  /** The view of the frames so far, by the same fold that the server uses. */
  readonly view: ThreadView
  readonly frames: readonly EventFrame[]
  /** The id of the last frame. */
  readonly place: string
  /** Reads until the view fits. */
  until(fits: (view: ThreadView) => boolean): Promise<ThreadView>
  /** Reads until a comment arrives. */
  comment(): Promise<void>
  close(): Promise<void>
}

export interface FeedQuery {
  readonly after?: number | string
  readonly lastEventId?: number | string
  readonly from?: ThreadView
}

/** Follows a thread, and checks for every frame that nothing is missing before it (RS2). */
export async function openFeed(
  client: HttpClient,
  threadId: string,
  query: FeedQuery = {},
): Promise<Feed> {
  const { after, lastEventId } = query
  const address = `/api/threads/${threadId}/events${after === undefined ? '' : `?after=${encodeURIComponent(after)}`}`
  const response = await client.open(address, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const events = readSseItems(response.body as ReadableStream<Uint8Array>)
  const frames: EventFrame[] = []
  let place = String(lastEventId ?? after ?? 0)
  // A place begins with its seq, whatever follows it.
  let at = Number.parseInt(place, 10)
  let view = query.from ?? { seq: at, messages: [] }

  const advance = async (): Promise<'comment' | 'named' | 'frame'> => {
    const next = await events.next()
    if (next.done === true) throw new assert.AssertionError({ message: 'the events ended' })
    const item = next.value
    if (item.type === 'comment') return 'comment'
    const { id, data, event } = item
    // A named event is no frame.
    if (event !== undefined) return 'named'
    const frame = JSON.parse(data) as EventFrame
    assert.equal(frame.after, at, 'a frame follows the one before')
    assert.ok(frame.seq > frame.after, 'a frame reaches further')
    assert.equal(
      Number.parseInt(id ?? '', 10),
      frame.seq,
      'the id is of the seq that the frame reaches',
    )
    place = id ?? ''
    assert.equal('turn' in frame, !('events' in frame), 'events, or a whole turn')
    at = frame.seq
    frames.push(frame)
    view = foldThread(view, toChanges(frame))
    return 'frame'
  }
  return {
    get view() {
      return view
    },
    frames,
    get place() {
      return place
    },
    async until(fits) {
      while (!fits(view)) await advance()
      return view
    },
    async comment() {
      while ((await advance()) !== 'comment');
    },
    async close() {
      await events.return()
    },
  }
}

/** The last message has been answered, with whatever ending. */
export const isEnded = ({ messages }: ThreadView): boolean => {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.progress.status === 'ended'
}
