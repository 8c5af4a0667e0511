import type { ChangeNotification } from './store.ts'

/** The listeners of one process. Notifications go out after the commit that they tell of, never inside it. */
export interface LocalNotifier {
  readonly size: number
  post(notifications: readonly ChangeNotification[]): void
  watch(listener: (notification: ChangeNotification) => void): () => void
}

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
    // A listener's bug is not the writer's, and a notification may be lost: whoever follows reads again anyway.
  }
}
