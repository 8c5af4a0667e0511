import type { ThreadId } from '../../core/ids.ts'
import type { ChangeNotification, Store } from '../../store/store.ts'

interface Watched {
  readonly notifications: readonly ChangeNotification[]
  /** Resolves with the first notification, past or future, that fits. */
  readonly until: (
    fits: (notification: ChangeNotification) => boolean,
  ) => Promise<ChangeNotification>
  readonly stop: () => void
}

/** Records the notifications of a store, and lets a rule wait for one. */
export function watchStore(store: Store, followed?: () => Iterable<ThreadId>): Watched {
  const notifications: ChangeNotification[] = []
  const waiting = new Set<(notification: ChangeNotification) => void>()
  const stop = store.watch((notification) => {
    notifications.push(notification)
    for (const check of waiting) check(notification)
  }, followed)
  return {
    notifications,
    stop,
    until(fits) {
      const past = notifications.find(fits)
      if (past !== undefined) return Promise.resolve(past)
      return new Promise((resolve) => {
        const check = (notification: ChangeNotification) => {
          if (!fits(notification)) return
          waiting.delete(check)
          resolve(notification)
        }
        waiting.add(check)
      })
    },
  }
}
