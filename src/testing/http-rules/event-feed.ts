import assert from 'node:assert/strict'
import { foldThread, type ThreadView } from '../../core/fold-thread.ts'
import { type EventFrame, toChanges } from '../../protocol/event-frame.ts'
import type { HttpClient } from './http-client.ts'
import { readSse } from './read-sse.ts'

export interface Feed {
  /** What follows from the frames so far, by the same fold that the server uses. */
  readonly view: ThreadView
  readonly frames: readonly EventFrame[]
  /** Reads on until the view fits. */
  until(fits: (view: ThreadView) => boolean): Promise<ThreadView>
  /** Reads on until a comment comes. */
  comment(): Promise<void>
  close(): Promise<void>
}

export interface FeedQuery {
  readonly after?: number
  readonly lastEventId?: number
  readonly from?: ThreadView
}

/** Follows a thread, and checks of every frame that nothing is missing before it (RS2). */
export async function openFeed(
  client: HttpClient,
  threadId: string,
  query: FeedQuery = {},
): Promise<Feed> {
  const { after, lastEventId } = query
  const address = `/api/threads/${threadId}/events${after === undefined ? '' : `?after=${after}`}`
  const response = await client.open(address, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const events = readSse(response.body as ReadableStream<Uint8Array>)
  const frames: EventFrame[] = []
  let at = lastEventId ?? after ?? 0
  let view = query.from ?? { seq: at, messages: [] }

  const advance = async (): Promise<'comment' | 'named' | 'frame'> => {
    const next = await events.next()
    if (next.done === true) throw new assert.AssertionError({ message: 'the events ended' })
    const item = next.value
    if (item.type === 'comment') return 'comment'
    const { id, data, event } = item
    // One with a name is no frame.
    if (event !== undefined) return 'named'
    const frame = JSON.parse(data) as EventFrame
    assert.equal(frame.after, at, 'a frame follows the one before')
    assert.ok(frame.seq > frame.after, 'a frame reaches further')
    assert.equal(id, String(frame.seq), 'the id is the seq that the frame reaches')
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

/** The last message has been answered, in whatever way. */
export const isEnded = ({ messages }: ThreadView): boolean => {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.progress.status === 'ended'
}
