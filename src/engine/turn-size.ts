import type { Call } from '../core/call.ts'
import { countJsonChars } from '../core/json-size.ts'
import type { Part, Turn } from '../core/message.ts'

/**
 * Each part once: a turn is a new object with every event, and its parts are the same as long as nothing happened to them.
 * Without this a turn of a thousand results would be measured whole for each of them.
 */
const known = new WeakMap<Part, number>()

/** About how many characters a turn has in all: texts, arguments, results, files and whatever else is in it (ST4c). */
export function charsIn(turn: Turn): number {
  let chars = 0
  for (const { parts } of turn.steps) for (const part of parts) chars += charsOf(part)
  return chars
}

function charsOf(part: Part): number {
  const before = known.get(part)
  if (before !== undefined) return before
  const chars = measure(part)
  known.set(part, chars)
  return chars
}

function measure(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length
    case 'call':
      return charsOfCall(part)
    default:
      return countJsonChars(part, Number.POSITIVE_INFINITY)
  }
}

function charsOfCall(call: Call): number {
  const { input } = call
  const given = input.kind === 'partial' ? input.text.length : charsOfJson(input.value)
  return call.state === 'succeeded' ? given + charsOfJson(call.output) : given
}

/** Of any JSON value. */
export const charsOfJson = (value: unknown): number =>
  countJsonChars(value, Number.POSITIVE_INFINITY)

/** What a result is refused with. */
export const tooMuchForTurn = (most: number): string =>
  `With this result the answer would have more than the ${most.toLocaleString('en-US')} characters that one may have.`
