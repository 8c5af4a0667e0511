import { createFairGate, type Leave } from '../../core/fair-gate.ts'
import type { NewEvent } from '../../core/event.ts'
import type { OwnerId } from '../../core/ids.ts'
import type { Clock } from '../clock.ts'
import { overdueFault } from './commit-faults.ts'
import { charsOfOutcome } from './turn-size.ts'

/** A commit with more characters of results is a large one. */
const manyChars = 1_048_576

/** So many at once, of all runs, and of each owner one. */
const largeAtOnce = 2

/**
 * A place for a commit of large results, to be taken before it is planned: its rows are a second copy of them, and the
 * database's parameters a third. Without this gate, the copies of all runs that wait for the database would be in memory at
 * once (OP7).
 */
export type EnterLarge = (ownerId: OwnerId) => Promise<Leave>

/** @param patienceMs who waits for longer is rejected, as a commit would be */
export function createLargeGate(clock: Clock, patienceMs: number): EnterLarge {
  const enter = createFairGate(largeAtOnce)
  return (ownerId) =>
    new Promise((resolve, reject) => {
      let isOver = false
      const cancel = clock.after(patienceMs, () => {
        isOver = true
        reject(overdueFault())
      })
      void enter(ownerId).then((leave) => {
        cancel()
        if (isOver) leave()
        else resolve(leave)
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
