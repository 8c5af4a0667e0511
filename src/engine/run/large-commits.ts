import { createFairGate, type Leave } from '../../core/fair-gate.ts'
import type { NewEvent } from '../../core/event.ts'
import type { OwnerId } from '../../core/ids.ts'
import { type Clock, elapsedMs } from '../clock.ts'
import { overdueFault } from './commit-faults.ts'
import { charsOfOutcome } from './turn-size.ts'

/** A commit with more characters of results is a large one. */
const manyChars = 1_048_576

/** So many at once, of all runs, and of each owner one. */
const largeAtOnce = 4

/**
 * A place for one attempt of a commit of large results. It is taken before the commit is planned: its rows are a second copy
 * of the results, and the database's parameters a third. Without places, the copies of all runs that wait for the database
 * would be in memory at once (OP7). It is left when the attempt is over, however it ended, so that a thread that somebody
 * has locked keeps no other waiting (LG3a).
 */
export interface LargePlace {
  readonly ownerId: OwnerId
  /** When it was first waited for: the patience of a run begins there. */
  readonly since: number
  readonly leave: Leave
}

export type EnterLarge = (ownerId: OwnerId, since?: number) => Promise<LargePlace>

/** Who waits for longer than `patienceMs`, or for a process that is `closing`, is rejected, as a commit would be. */
export function createLargeGate(
  clock: Clock,
  patienceMs: number,
  closing: AbortSignal,
): EnterLarge {
  const enter = createFairGate(largeAtOnce)
  return (ownerId, since = elapsedMs(clock)) =>
    new Promise((resolve, reject) => {
      let isOver = false
      const giveUp = () => {
        isOver = true
        end()
        reject(overdueFault())
      }
      const cancel = clock.after(Math.max(0, since + patienceMs - elapsedMs(clock)), giveUp)
      const end = () => {
        cancel()
        closing.removeEventListener('abort', giveUp)
      }
      closing.addEventListener('abort', giveUp)
      void enter(ownerId).then((leave) => {
        if (isOver) return leave()
        end()
        resolve({ ownerId, since, leave })
      })
    })
}

const charsOf = (event: NewEvent): number =>
  event.type === 'call-settled' ? charsOfOutcome(event.outcome) : 0

/** Whether the results among these events are large together. */
export const isLargeCommit = (events: readonly NewEvent[]): boolean =>
  events.reduce((chars, event) => chars + charsOf(event), 0) > manyChars

/** The first of these events that are not large together; one at least. */
export function firstPortion<Event extends NewEvent>(events: readonly Event[]): readonly Event[] {
  let chars = 0
  const end = events.findIndex((event, nth) => (chars += charsOf(event)) > manyChars && nth > 0)
  return end === -1 ? events : events.slice(0, end)
}
