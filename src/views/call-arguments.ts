import type { Call, CallInput } from '../core/call.ts'
import type { CallId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { callPositionsIn, type Step, type Turn } from '../core/message.ts'
import { parsePartialJson } from '../core/partial-json.ts'
import { certainPrefix } from './certain-prefix.ts'

type PartialInput = Extract<CallInput, { readonly kind: 'partial' }>

/**
 * So many characters of arguments that are not complete are parsed, shown and sent to a model: a live client, a page and a
 * prompt have the same beginning. Such text is stored as it came, of a model or of an import, and would be parsed again by
 * every read: one of a megabyte blocks the event loop for a tenth of a second, however few have asked for it, and has more
 * values than any result may have (CL6b OP7).
 */
const mostPartialChars = 65_536

/** So many calls of a turn are shown that long. All others are shown so far, or a hundred would take as long as one that is not bounded. */
const mostLongCalls = 8
const shortChars = 512

/**
 * The arguments as far as they are shown. How far depends on nothing that changes while the call is there: a live client,
 * which has the beginning already, could not be told otherwise.
 */
export function shownInput({ id, input }: Call, turn: Turn): CallInput {
  if (input.kind === 'complete' || input.text.length <= shortChars) return input
  const most = placeOf(id, turn) < mostLongCalls ? mostPartialChars : shortChars
  if (input.text.length <= most) return input
  const known = shownInputs.get(input)
  if (known?.text.length === most) return known
  const shown = { kind: 'partial', text: input.text.slice(0, most) } as const
  shownInputs.set(input, shown)
  return shown
}

const shownInputs = new WeakMap<PartialInput, PartialInput>()

/**
 * How many calls of its step are before the call, and how many calls of earlier steps never got complete arguments: while
 * a model makes sound calls, one step after the other, that is few.
 */
function placeOf(id: CallId, { steps }: Turn): number {
  let place = 0
  for (const step of steps) {
    const calls = callPositionsIn(step)
    if (calls.has(id)) {
      for (const other of calls.keys()) {
        if (other === id || place >= mostLongCalls) return place
        place++
      }
    }
    place += partialCallsIn(step)
    if (place >= mostLongCalls) return place
  }
  return place
}

const partialCalls = new WeakMap<Step, number>()

function partialCallsIn(step: Step): number {
  let count = partialCalls.get(step)
  if (count === undefined) {
    count = step.parts.filter(
      (part) => part.type === 'call' && part.input.kind === 'partial',
    ).length
    partialCalls.set(step, count)
  }
  return count
}

/** Of a text that is shown without its turn, too. */
const beginningOf = ({ text }: PartialInput): string => text.slice(0, mostPartialChars)

/**
 * By the input of a call, which never changes: one page needs it twice, and each event of a turn, for each of its readers,
 * before and after.
 */
function oncePerInput<Value>(read: (input: PartialInput) => Value): (input: PartialInput) => Value {
  const known = new WeakMap<PartialInput, { readonly value: Value }>()
  return (input) => {
    let entry = known.get(input)
    if (entry === undefined) known.set(input, (entry = { value: read(input) }))
    return entry.value
  }
}

/** The text that clients are sent, which they parse by themselves. */
export const certainTextOf = oncePerInput((input) => certainPrefix(beginningOf(input)))

/** What they make of it. */
export const certainInputOf = oncePerInput((input) => parsePartialJson(certainTextOf(input)))

/** What can be parsed of arguments that are not complete; undefined if nothing can. */
export const partialValueOf = oncePerInput((input) => parsePartialJson(beginningOf(input)))

/** The arguments as a value: of a text that was cut off, the part that is certain, or the text itself. */
export function projectArguments(input: CallInput): Json {
  if (input.kind === 'complete') return input.value
  const text = beginningOf(input)
  return partialValueOf(input) ?? (text.trim() === '' ? {} : text.toWellFormed())
}
