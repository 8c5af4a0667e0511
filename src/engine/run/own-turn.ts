import { isLargerThan } from '../../core/json-size.ts'
import { type Clock, nextTurn } from '../clock.ts'

/** What is smaller takes less than a millisecond to copy, to count and to write. */
const largeChars = 65_536

const lines = new WeakMap<Clock, Promise<void>>()

/**
 * For a large value that a tool has returned: a turn of the event loop in which no other is worked on. Those of forty calls
 * that end in one moment would otherwise be one pause for everybody else (OP7). Undefined: it is small.
 */
export function ownTurn(clock: Clock, value: unknown): Promise<void> | undefined {
  if (!isLargerThan(value, largeChars)) return undefined
  const turn = (lines.get(clock) ?? Promise.resolve()).then(() => nextTurn(clock))
  lines.set(clock, turn)
  return turn
}
