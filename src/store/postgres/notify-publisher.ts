import type { ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'

export interface NotifyPublisher {
  send(notifications: readonly ChangeNotification[]): void
  /** Resolves when what was given so far has gone out, or was given up. */
  settle(): Promise<void>
}

export interface NotifyPublisherOptions {
  readonly from: string
  readonly notify: (payloads: readonly string[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

const attempts = 3
/** Each costs the server a commit, and a run makes hundreds of changes in a second. */
const spacingMs = 10

/**
 * Tells other processes of changes: after their commit, never in it, because NOTIFY in a transaction
 * makes all commits of a database queue for one lock. The first goes at once; what comes in the moment
 * after it goes together, and of one thread only the newest is told.
 */
export function createNotifyPublisher({
  from,
  notify,
  onError,
}: NotifyPublisherOptions): NotifyPublisher {
  const waiting = new Map<ThreadId | null, ChangeNotification>()
  let sending: Promise<void> | undefined

  const sendAll = async () => {
    // Whatever else is committed in this turn of the event loop comes along.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    while (waiting.size > 0) {
      const payloads = [...toNotifyPayloads(from, [...waiting.values()])]
      waiting.clear()
      await notifyPatiently(payloads)
      await new Promise((resolve) => {
        setTimeout(resolve, spacingMs)
      })
    }
    sending = undefined
  }

  // Lost with its connection, a notification leaves the followers elsewhere waiting for the next one.
  const notifyPatiently = async (payloads: readonly string[]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await notify(payloads)
        return
      } catch (error) {
        if (attempt < attempts) continue
        // The commits stand; they are found by whoever reads next.
        onError(error)
        return
      }
    }
  }

  return {
    send(notifications) {
      for (const notification of notifications) {
        const stop = notification.stop ?? waiting.get(notification.threadId)?.stop
        waiting.set(
          notification.threadId,
          stop === undefined ? notification : { ...notification, stop },
        )
      }
      if (waiting.size > 0) sending ??= sendAll()
    },
    settle: async () => sending,
  }
}

/** For when nobody knows what has changed. */
export const everything: ChangeNotification = { threadId: null, seq: 0 }

/** PostgreSQL takes less than 8000 bytes; an id has at most 200 characters, so 800 bytes. */
const mostBytes = 7000

/** The notifications of one store as payloads for NOTIFY. `from` lets that store know its own again. */
export function* toNotifyPayloads(
  from: string,
  notifications: readonly ChangeNotification[],
): Generator<string> {
  let part: Wire[] = []
  let bytes = 0
  for (const { threadId, seq, stop } of notifications) {
    const wire: Wire = stop === true ? [threadId, seq, 'stop'] : [threadId, seq]
    const size = Buffer.byteLength(JSON.stringify(wire))
    if (bytes + size > mostBytes) {
      yield JSON.stringify([from, part])
      part = []
      bytes = 0
    }
    part.push(wire)
    bytes += size + 1
  }
  if (part.length > 0) yield JSON.stringify([from, part])
}

/** What a listener sends itself, to find out whether it hears: a payload of its own without a change. */
export const toProbePayload = (from: string): string => JSON.stringify([from, []])

/** Undefined if it is not one of ours: anybody may write to a channel. */
export function parseNotifyPayload(
  payload: string,
): { readonly from: string; readonly notifications: readonly ChangeNotification[] } | undefined {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !Array.isArray(value[1])) {
    return undefined
  }
  const notifications = (value[1] as readonly unknown[]).filter(isWire)
  return {
    from: value[0],
    notifications: notifications.map(([threadId, seq, stop]) => ({
      threadId,
      seq,
      ...(stop === 'stop' ? { stop: true } : {}),
    })),
  }
}

type Wire = readonly [threadId: ThreadId | null, seq: number, stop?: 'stop']

const isWire = (value: unknown): value is Wire =>
  Array.isArray(value) &&
  (typeof value[0] === 'string' || value[0] === null) &&
  typeof value[1] === 'number'
