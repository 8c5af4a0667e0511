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
  /** The seq that the follower has reached; read for each connection. */
  readonly position: () => Seq
  /** The server's place for it: the seq and the history it belongs to. */
  readonly place: () => string
  /**
   * Loads a state from which the thread can be followed; called until it succeeds. `isStale`: the current place is
   * invalid, so the stored messages have to be read and shown.
   */
  readonly load: (isStale: boolean, signal: AbortSignal) => Promise<void>
  /** With the place after the frame. */
  readonly onFrame: (frame: EventFrame, place: string) => void
  readonly onSaving: (note: SavingNote) => void
  readonly onConnection: (input: ConnectionInput) => ConnectionEffect
}

/** A connection that stayed open for this long was useful, even if nothing happened in the thread. */
const usefulMs = 5_000

/**
 * Follows a thread until the signal aborts: connects, reads frames, and after any loss reconnects at its place. A frame
 * that does not continue the previous one, or cannot be read, is never applied, and a place that the server does not
 * have belongs to another history: then the stored messages are read again, so that the view neither lacks nor contains
 * anything that is not stored.
 */
export async function followThread(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, network, onConnection } = options
  const path = `/api/threads/${encodeURIComponent(options.threadId)}/events`
  let place: 'unknown' | 'known' | 'stale' = 'unknown'

  /** Reads until the connection ends, in whatever way. True if the connection was useful. */
  const readFrames = async (
    response: Response,
    either: AbortSignal,
    onReceived: () => void,
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
      for await (const event of readSse(untilAborted(body, either), onReceived)) {
        // Another connection may have begun: what this one still delivers need not belong to the view any more (RS9).
        if (signal.aborted) break
        const outcome = receive(event, options)
        if (outcome === 'applied') frames++
        if (outcome !== 'stale') continue
        place = 'stale'
        break
      }
    } catch {
      // The connection broke: what arrived before is valid, and the rest comes with the next connection.
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
        // The server does not have this place: it is not the history that was being followed (OP6).
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
  // An event with another name is not a frame; a newer server may send some.
  if (event !== undefined && event !== 'message') return 'ignored'
  const frame = parseEventFrame(data)
  if (frame === null || frame.after > options.position()) return 'stale'
  if (frame.seq <= options.position()) return 'ignored'
  try {
    options.onFrame(frame, id ?? String(frame.seq))
  } catch {
    // It parses as a frame but cannot be folded: the stored messages can be shown all the same.
    return 'stale'
  }
  return 'applied'
}

/** Ends with the signal, even if the given `fetch` ignores it. */
const untilAborted = (
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> =>
  body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal })

/**
 * Something in front of the server, such as a sign-in, refused the request without our error codes: only its status is
 * known.
 */
function refusalOf({ status, code }: ApiError): string {
  if (code !== 'http-error') return code
  if (status === 401) return 'not-authenticated'
  return status === 403 ? 'forbidden' : code
}
