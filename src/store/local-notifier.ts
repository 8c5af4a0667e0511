import type { ChangeNotification } from './store.ts'

/** The listeners of one process. A notification is posted after its commit, never inside the transaction. */
export interface LocalNotifier {
  readonly size: number
  post(notifications: readonly ChangeNotification[]): void
  watch(listener: (notification: ChangeNotification) => void): () => void
}

/** Creates a notifier without listeners. */
export function createLocalNotifier(): LocalNotifier {
  const listeners = new Set<(notification: ChangeNotification) => void>()
  return {
    get size() {
      return listeners.size
    },
    post(notifications) {
      if (notifications.length === 0 || listeners.size === 0) return
      for (const listener of [...listeners]) {
        queueMicrotask(() => {
          if (listeners.has(listener)) notify(listener, notifications)
        })
      }
    },
    watch(listener) {
      const own = (notification: ChangeNotification) => listener(notification)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}

function notify(
  listener: (notification: ChangeNotification) => void,
  notifications: readonly ChangeNotification[],
): void {
  try {
    for (const notification of notifications) listener(notification)
  } catch {
    // A listener that throws must not fail the writer's commit. Losing a notification is allowed: followers
    // read again anyway.
  }
}
