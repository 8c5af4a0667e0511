import type { ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'

export interface NotifyPublisher {
  send(notifications: readonly ChangeNotification[]): void
  /** Resolves once every notification so far was sent, or given up. */
  settle(): Promise<void>
}

export interface NotifyPublisherOptions {
  readonly from: string
  readonly notify: (payloads: readonly string[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

const attempts = 3
/** Each NOTIFY costs the server a commit, and a run makes hundreds of changes in a second. */
const spacingMs = 10

/**
 * Publishes changes to other processes: after their commit, never in it, because NOTIFY in a transaction
 * makes all commits of a database queue for one lock. The first is sent at once; those that follow within the
 * spacing are sent together, and of one thread only the newest, besides its deletions: a thread that is created again
 * under its id must not hide that the earlier one was deleted.
 */
export function createNotifyPublisher({
  from,
  notify,
  onError,
}: NotifyPublisherOptions): NotifyPublisher {
  const deletions: ChangeNotification[] = []
  const waiting = new Map<ThreadId | null, ChangeNotification>()
  let sending: Promise<void> | undefined

  const sendAll = async () => {
    // Includes whatever else is committed in this turn of the event loop.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    while (deletions.length + waiting.size > 0) {
      const notifications = [...deletions.splice(0), ...waiting.values()]
      const payloads = [...toNotifyPayloads(from, notifications)]
      waiting.clear()
      await notifyWithRetry(payloads)
      await new Promise((resolve) => {
        setTimeout(resolve, spacingMs)
      })
    }
    sending = undefined
  }

  // If a notification is lost with its connection, followers in other processes wait for the next one, so it
  // is sent again.
  const notifyWithRetry = async (payloads: readonly string[]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await notify(payloads)
        return
      } catch (error) {
        if (attempt < attempts) continue
        // The commits are stored; followers see them with their next read.
        onError(error)
        return
      }
    }
  }

  return {
    send(notifications) {
      for (const notification of notifications) {
        if (notification.incarnation !== undefined) {
          deletions.push(notification)
          // What was committed to the deleted thread.
          waiting.delete(notification.threadId)
          continue
        }
        const stop = notification.stop ?? waiting.get(notification.threadId)?.stop
        waiting.set(
          notification.threadId,
          stop === undefined ? notification : { ...notification, stop },
        )
      }
      if (deletions.length + waiting.size > 0) sending ??= sendAll()
    },
    settle: async () => sending,
  }
}

/** Sent when it is unknown what has changed. */
export const everything: ChangeNotification = { threadId: null, seq: 0 }

/** PostgreSQL accepts payloads below 8000 bytes; an id has at most 200 characters, so 800 bytes. */
const mostBytes = 7000

/** Encodes the notifications of one store as payloads for NOTIFY. By `from` that store recognises its own. */
export function* toNotifyPayloads(
  from: string,
  notifications: readonly ChangeNotification[],
): Generator<string> {
  let part: Wire[] = []
  let bytes = 0
  for (const notification of notifications) {
    const wire = toWire(notification)
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

/** The payload that a listener sends itself to test the connection: its own name and no change. */
export const toProbePayload = (from: string): string => JSON.stringify([from, []])

/** Undefined if it is not a payload of Holdfast: any client may write to a channel. */
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
    notifications: notifications.map(([threadId, seq, what, incarnation]) => ({
      threadId,
      seq,
      ...(what === 'stop' ? { stop: true } : {}),
      ...(what === 'deleted' && typeof incarnation === 'string' ? { incarnation } : {}),
    })),
  }
}

/** A version that does not know a fourth element ignores it. */
type Wire = readonly [
  threadId: ThreadId | null,
  seq: number,
  what?: 'stop' | 'deleted',
  incarnation?: string,
]

function toWire({ threadId, seq, stop, incarnation }: ChangeNotification): Wire {
  if (incarnation !== undefined) return [threadId, seq, 'deleted', incarnation]
  return stop === true ? [threadId, seq, 'stop'] : [threadId, seq]
}

const isWire = (value: unknown): value is Wire =>
  Array.isArray(value) &&
  (typeof value[0] === 'string' || value[0] === null) &&
  typeof value[1] === 'number'
