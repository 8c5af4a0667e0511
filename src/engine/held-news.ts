import type { Clock } from './clock.ts'

/** What a run has committed and its followers do not know yet. */
export interface HeldNews {
  add(tell: () => void): void
  /** All of it, in order. */
  tell(): void
  /** The same, unless the run is about to write. */
  tellIfDue(): void
}

/** How long followers may wait for a run that writes without a pause. */
const longestHeldMs = 5

/**
 * The run comes first: while it is about to write again, what was committed waits, so that followers
 * are served while the store works and not before. A run that never pauses tells them all the same.
 */
export function createHeldNews(clock: Clock, isAboutToWrite: () => boolean): HeldNews {
  const held: (() => void)[] = []
  let since = 0
  const tell = () => {
    for (const each of held.splice(0)) each()
  }
  return {
    add(news) {
      if (held.push(news) === 1) since = clock.now()
    },
    tell,
    tellIfDue() {
      if (!isAboutToWrite() || clock.now() - since >= longestHeldMs) tell()
    },
  }
}
