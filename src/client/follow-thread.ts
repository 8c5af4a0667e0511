import type { Seq } from '../core/ids.ts'
import { type EventFrame, parseEventFrame } from '../protocol/event-frame.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { SseEvent } from '../protocol/sse.ts'
import type { SavingNote } from '../views/saving-note.ts'
import { type Api, isEventStream, isFinal } from './api.ts'
import type { ConnectionEffect, ConnectionInput } from './connection.ts'
import type { ClientClock, Network } from './network.ts'
import { readSse } from './read-sse.ts'

export interface FollowOptions {
  readonly api: Api
  readonly threadId: string
  readonly clock: ClientClock
  readonly network: Network
  readonly random: () => number
  /** The seq that the follower has reached; asked anew for each connection. */
  readonly position: () => Seq
  /** The same as the server said it: a seq, and which history it belongs to. */
  readonly place: () => string
  /**
   * Brings the follower to a place from which it can follow; called until it succeeds. `isStale`: the place that
   * it has is of no use, so it is to read what is stored and show that.
   */
  readonly load: (isStale: boolean, signal: AbortSignal) => Promise<void>
  /** With the place that it leads to. */
  readonly onFrame: (frame: EventFrame, place: string) => void
  readonly onSaving: (note: SavingNote) => void
  readonly onConnection: (input: ConnectionInput) => ConnectionEffect
}

/** A connection that stood so long served, though nothing happened in the thread. */
const usefulMs = 5_000

/**
 * Follows a thread until it is told to stop: connects, reads frames, and after any loss connects again from where
 * it was. A frame that does not follow on the one before, or cannot be read, is never applied, and a place that
 * the server does not have is of another history: then what is stored is read anew, so that nothing can be
 * missing from what is shown, and nothing can be in it that is not there.
 */
export async function followThread(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, network, onConnection } = options
  const path = `/api/threads/${encodeURIComponent(options.threadId)}/events`
  let place: 'unknown' | 'known' | 'stale' = 'unknown'

  /** Reads until the line ends, however it does. True if it was worth having been opened. */
  const readFrames = async (
    response: Response,
    either: AbortSignal,
    heard: () => void,
  ): Promise<boolean> => {
    const { body } = response
    if (body === null || !isEventStream(response)) {
      await body?.cancel()
      return false
    }
    onConnection({ type: 'opened' })
    const opened = clock.now()
    let frames = 0
    try {
      for await (const event of readSse(untilAborted(body, either), heard)) {
        const outcome = receive(event, options)
        if (outcome === 'applied') frames++
        if (outcome === 'stale') place = 'stale'
        if (outcome === 'stale' || signal.aborted) break
      }
    } catch {
      // The line broke: what came before it stands, and the rest comes with the next connection.
    }
    return frames > 0 || clock.now() - opened >= usefulMs
  }

  const connectOnce = async (): Promise<ConnectionInput> => {
    const cut = new AbortController()
    const guard = network.guard(() => cut.abort())
    const either = AbortSignal.any([signal, cut.signal])
    let wasUseful = false
    let retryAfterMs = 0
    try {
      if (place !== 'known') await options.load(place === 'stale', either)
      place = 'known'
      guard.heard()
      const headers = { accept: 'text/event-stream' }
      const init = { signal: either, headers }
      const response = await api.open(`${path}?after=${encodeURIComponent(options.place())}`, init)
      wasUseful = await readFrames(response, either, guard.heard)
    } catch (error) {
      if (error instanceof ApiError) {
        retryAfterMs = error.retryAfterMs
        // The server has no such place: it is not the history that was being followed (OP6).
        const isElsewhere = error.status === 400 || error.code === 'other-history'
        if (place === 'known' && isElsewhere) place = 'stale'
        else if (isFinal(error)) return { type: 'refused', code: refusalOf(error) }
      }
    } finally {
      guard.release()
    }
    return network.isOnline()
      ? { type: 'lost', wasUseful, retryAfterMs, random: options.random() }
      : { type: 'went-offline' }
  }

  let effect = onConnection({ type: 'started' })
  while (!signal.aborted) {
    if (effect.type === 'connect') {
      const input = await connectOnce()
      if (!signal.aborted) effect = onConnection(input)
    } else if (effect.type === 'wait') {
      await network.wait(effect.ms, signal)
      if (!signal.aborted) effect = onConnection({ type: 'started' })
    } else return
  }
}

type Outcome = 'applied' | 'ignored' | 'stale'

function receive({ id, event, data }: SseEvent, options: FollowOptions): Outcome {
  if (event === 'saving') {
    options.onSaving(JSON.parse(data) as SavingNote)
    return 'ignored'
  }
  // What has another name is not a frame; a newer server may have some.
  if (event !== undefined && event !== 'message') return 'ignored'
  const frame = parseEventFrame(data)
  if (frame === null || frame.after > options.position()) return 'stale'
  if (frame.seq <= options.position()) return 'ignored'
  try {
    options.onFrame(frame, id ?? String(frame.seq))
  } catch {
    // It looks like a frame and cannot be folded: what is stored can be shown all the same.
    return 'stale'
  }
  return 'applied'
}

/** Ends with the signal also where the `fetch` that was given takes no notice of it. */
const untilAborted = (
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> =>
  body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal })

/** What stands before the server, such as a sign-in, refuses in its own words: only its status is known then. */
function refusalOf({ status, code }: ApiError): string {
  if (code !== 'http-error') return code
  if (status === 401) return 'not-authenticated'
  return status === 403 ? 'forbidden' : code
}
