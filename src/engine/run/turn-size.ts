import type { Call } from '../../core/call.ts'
import { countJsonChars } from '../../core/json-size.ts'
import type { Part, Turn } from '../../core/message.ts'

/**
 * Sizes by part: a turn is a new object after every event, but an unchanged part stays the same object. Without
 * this cache a turn of a thousand results would be measured whole for each of them.
 */
const sizes = new WeakMap<Part, number>()
const attached = new WeakMap<Part, number>()

/**
 * About how many characters a turn has in all: texts, arguments, results, files and everything else in it (ST4c).
 */
export function charsIn(turn: Turn): number {
  let chars = 0
  for (const { parts } of turn.steps) for (const part of parts) chars += charsOf(part)
  return chars
}

const charsOf = (part: Part): number => measureOnce(sizes, part, measure)

function measureOnce(
  known: WeakMap<Part, number>,
  part: Part,
  measurePart: (part: Part) => number,
): number {
  const before = known.get(part)
  if (before !== undefined) return before
  const chars = measurePart(part)
  known.set(part, chars)
  return chars
}

function measure(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length + charsAttached(part)
    case 'call':
      return charsOfCall(part)
    default:
      return countJsonChars(part, Number.POSITIVE_INFINITY)
  }
}

function charsOfCall(call: Call): number {
  const given = charsAttached(call)
  return call.state === 'succeeded' ? given + charsOfJson(call.output) : given
}

/** The characters of a call's arguments, and of what the provider has attached to a part. */
export const charsAttached = (part: Part): number => measureOnce(attached, part, measureAttached)

function measureAttached(part: Part): number {
  const { providerMetadata } = part as { readonly providerMetadata?: unknown }
  const metadata = providerMetadata === undefined ? 0 : charsOfJson(providerMetadata)
  if (part.type !== 'call') return metadata
  const { input } = part
  return metadata + (input.kind === 'partial' ? input.text.length : charsOfJson(input.value))
}

/** The characters of any JSON value. */
export const charsOfJson = (value: unknown): number =>
  countJsonChars(value, Number.POSITIVE_INFINITY)

/** The error text of a result that is refused. */
export const tooMuchForTurn = (most: number): string =>
  `With this result the answer would exceed the limit of ${most.toLocaleString('en-US')} characters.`
