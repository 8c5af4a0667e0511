import { type Clock, elapsedMs } from '../clock.ts'

/** Change notifications of a run that its followers have not received yet. */
export interface DeferredNotifications {
  add(notify: () => void): void
  /** Delivers all of them, in order. */
  flush(): void
  /** Delivers them unless the run is about to write. */
  flushIfDue(): void
}

/** How long notifications may be deferred while a run writes without a pause. */
const longestDeferredMs = 5

/**
 * While a run is about to write again its notifications are deferred, so that followers are served while the store
 * works and not before. A run that never pauses still flushes them after `longestDeferredMs`.
 */
export function createDeferredNotifications(
  clock: Clock,
  isAboutToWrite: () => boolean,
): DeferredNotifications {
  const held: (() => void)[] = []
  let since = 0
  const flush = () => {
    for (const each of held.splice(0)) each()
  }
  return {
    add(notify) {
      if (held.push(notify) === 1) since = elapsedMs(clock)
    },
    flush,
    flushIfDue() {
      if (!isAboutToWrite() || elapsedMs(clock) - since >= longestDeferredMs) flush()
    },
  }
}
