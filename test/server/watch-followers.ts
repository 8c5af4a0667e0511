import type { Holdfast } from 'holdfast'
import { createSignal } from '../support/signal.ts'

export interface Followers {
  /** How many follow now. */
  readonly present: number
  /** How many have left, in all. */
  readonly left: number
}

export interface FollowerWatch {
  /** The same engine; whoever follows a thread through it is counted. */
  readonly holdfast: Holdfast
  readonly followers: Followers
  /** Resolves when the count fits. */
  until(fits: (followers: Followers) => boolean): Promise<void>
}

export function watchFollowers(inner: Holdfast): FollowerWatch {
  const changed = createSignal()
  const followers = { present: 0, left: 0 }
  const holdfast: Holdfast = {
    ...inner,
    async *subscribe(...following) {
      followers.present++
      changed.notify()
      try {
        yield* inner.subscribe(...following)
      } finally {
        followers.present--
        followers.left++
        changed.notify()
      }
    },
  }
  return { holdfast, followers, until: (fits) => changed.until(() => fits(followers)) }
}
