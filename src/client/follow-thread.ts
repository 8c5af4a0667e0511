import type { Seq } from '../core/ids.ts'
import type { EventFrame } from '../protocol/event-frame.ts'
import { ApiError } from '../protocol/api-error.ts'
import type { SavingNote } from '../views/saving-note.ts'
import type { Api } from './api.ts'
import type { ConnectionEvent } from './connection.ts'
import { readSse } from './read-sse.ts'

export interface FollowOptions {
  readonly api: Api
  readonly threadId: string
  /** The seq that the follower has reached; asked anew for each connection. */
  readonly position: () => Seq
  /** Brings the follower to a place from which it can follow; called until it succeeds. */
  readonly load: (signal: AbortSignal) => Promise<void>
  readonly onFrame: (frame: EventFrame) => void
  readonly onSaving: (note: SavingNote) => void
  readonly onConnection: (event: ConnectionEvent) => number | null
  /** Calls `cut` when a connection is of no use any more, though nobody ended it. */
  readonly guard: (cut: () => void) => ConnectionGuard
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
  readonly isOnline: () => boolean
}

export interface ConnectionGuard {
  /** Something came. */
  readonly heard: () => void
  readonly release: () => void
}

/**
 * Follows a thread until it is told to stop: connects, reads frames, and after any loss connects again
 * from where it was. A frame that does not follow on the one before is never applied: the connection
 * is made anew instead, so nothing can be missing from what is shown.
 */
export async function followThread(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { api, threadId, onConnection, onFrame } = options
  let loaded = false
  while (!signal.aborted) {
    onConnection({ type: 'started' })
    const cut = new AbortController()
    const guard = options.guard(() => cut.abort())
    const either = AbortSignal.any([signal, cut.signal])
    try {
      if (!loaded) await options.load(either)
      loaded = true
      const path = `/api/threads/${encodeURIComponent(threadId)}/events?after=${options.position()}`
      const response = await api.open(path, {
        signal: either,
        headers: { accept: 'text/event-stream' },
      })
      onConnection({ type: 'opened', isBehind: false })
      for await (const { event, data } of readSse(
        response.body as ReadableStream<Uint8Array>,
        guard.heard,
      )) {
        if (event === 'saving') {
          options.onSaving(JSON.parse(data) as SavingNote)
          continue
        }
        const frame = JSON.parse(data) as EventFrame
        if (frame.seq <= options.position()) continue
        if (frame.after > options.position()) break
        onFrame(frame)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && isFinal(error)) {
        onConnection({ type: 'refused', code: error.code })
        return
      }
    } finally {
      guard.release()
    }
    if (signal.aborted) return
    const delay = options.isOnline()
      ? onConnection({ type: 'lost', random: options.random() })
      : onConnection({ type: 'went-offline' })
    await options.wait(delay ?? 1_000, signal)
  }
}

/** A place that the server does not have (400) means that it is not the thread we knew. */
const isFinal = ({ status }: ApiError): boolean =>
  status === 400 || status === 401 || status === 403 || status === 404
