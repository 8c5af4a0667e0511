import type { Clock } from './clock.ts'

/** Change notifications of a run that its followers have not had yet. */
export interface DeferredNotifications {
  add(notify: () => void): void
  /** All of it, in order. */
  flush(): void
  /** The same, unless the run is about to write. */
  flushIfDue(): void
}

/** How long followers may wait for a run that writes without a pause. */
const longestDeferredMs = 5

/**
 * While a run is about to write again its notifications wait, so that followers are served while the store
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
      if (held.push(notify) === 1) since = clock.now()
    },
    flush,
    flushIfDue() {
      if (!isAboutToWrite() || clock.now() - since >= longestDeferredMs) flush()
    },
  }
}
