import type { Call } from '../../core/call.ts'
import { countJsonChars } from '../../core/json-size.ts'
import type { Part, Step, Turn } from '../../core/message.ts'

/**
 * Sizes by step: a turn is a new object after every event, but a step that no event changed stays the same object.
 * Without this cache each step of a long turn would measure all steps before it again.
 */
const sizes = new WeakMap<Step, number>()

/**
 * About how many characters a turn has in all: texts, arguments, results, files and everything else in it (ST4c).
 */
export const charsIn = (turn: Turn): number =>
  turn.steps.reduce((sum, step) => sum + charsOfStep(step), 0)

function charsOfStep(step: Step): number {
  const before = sizes.get(step)
  if (before !== undefined) return before
  const chars = step.parts.reduce((sum, part) => sum + measure(part), 0)
  sizes.set(step, chars)
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

/** The characters of any JSON value. */
export const charsOfJson = (value: unknown): number =>
  countJsonChars(value, Number.POSITIVE_INFINITY)

/** The error text of a result that is refused. */
export const tooMuchForTurn = (most: number): string =>
  `With this result the answer would exceed the limit of ${most.toLocaleString('en-US')} characters.`
