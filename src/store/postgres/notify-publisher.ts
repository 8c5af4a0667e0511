import type { ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { toNotifyPayloads } from './notify-payload.ts'

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
