import { describeWidth, type JsonWidth, mostWidth } from '../core/json-width.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import type { OldMessage, Report } from './old-message.ts'

/**
 * The most values that an imported message may have in all, which may be a turn of thousands of calls, and the most different
 * keys that each of its parts or calls may have: those of the arguments and of the result of a call, as a server has stored and exported them, and its own fields.
 */
export const mostImported: JsonWidth = { values: 1_000_000, keys: 2 * mostWidth.keys + 1_000 }

/** Why a message is not read that has more, as JSON or as JSON text in it. */
export const tooManyValues = `It has ${describeWidth(mostImported)} in one of its parts or calls.`

/**
 * Whether a message, or a column of it, has more than it may. Wherever it has its parts or calls, in `parts`, in its metadata
 * or in a message inside it, they are the objects of a list: each of them is counted by itself, with all that is in it, and
 * what is not in a list is counted together. Otherwise an answer of three calls could not be read that a server has exported.
 */
export function* isWideMessage(message: unknown): PausableWork<boolean> {
  const listed: unknown[] = []
  let values = yield* countValues(message, listed)
  for (const [index, part] of listed.entries()) {
    if (index % partsAtOnce === 0) yield
    if (values > mostImported.values) return true
    values += yield* countValues(part)
  }
  return values > mostImported.values
}

/**
 * The most steps, parts and calls of an imported message: twice the parts that an answer may have here. A view of a turn is made
 * in one go, and one of a hundred thousand calls would block the event loop for half a second with every page (OP7).
 */
export const mostImportedParts = 20_000

const tooManyParts = `It has more than ${mostImportedParts.toLocaleString('en-US')} steps, parts and calls.`

const countParts = (message: OldMessage): number =>
  message.kind === 'user'
    ? message.parts.length
    : message.steps.reduce((sum, { parts }) => sum + 1 + parts.length, 0)

/** Whether a message has more; that is reported. */
export function hasTooManyParts(
  message: OldMessage,
  index: number,
  report: Pick<Report, 'fail'>,
): boolean {
  if (countParts(message) <= mostImportedParts) return false
  report.fail(index, tooManyParts)
  return true
}

/** Whether two pieces of a turn are too much for one message. */
export const areTooManyParts = (one: OldMessage, other: OldMessage): boolean =>
  countParts(one) + countParts(other) > mostImportedParts

/** Whether one value has more: what is in it is counted together, in lists too. */
export function* isWideValue(value: unknown): PausableWork<boolean> {
  return (yield* countValues(value)) > mostImported.values
}

/** So many values, or small parts, are counted within a millisecond. */
const valuesAtOnce = 4_096
const partsAtOnce = 1_024

/**
 * How many values are inside, or Infinity if there are more of them, or more different keys, than may be. With `listed`, the
 * objects of its lists are not counted, but added to that.
 */
function* countValues(
  value: unknown,
  listed?: unknown[],
  different?: Set<string>,
): PausableWork<number> {
  const open: unknown[] = [value]
  let [values, keys, pausedAt] = [0, 0, 0]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const isList = Array.isArray(next)
    const items: readonly unknown[] = isList ? next : Object.values(next)
    values += items.length
    if (!isList) keys += items.length
    if (!isList && different !== undefined) for (const key of Object.keys(next)) different.add(key)
    const isWide = values > mostImported.values || (different?.size ?? 0) > mostImported.keys
    if (isWide) return Number.POSITIVE_INFINITY
    for (const item of items) {
      if (typeof item !== 'object' || item === null) continue
      if (listed === undefined || !isList || Array.isArray(item)) open.push(item)
      else listed.push(item)
    }
    if (values - pausedAt < valuesAtOnce) continue
    pausedAt = values
    yield
  }
  const hasManyKeys = different === undefined && keys > mostImported.keys
  // Most values have so few keys that it need not be known which of them are different.
  return hasManyKeys ? yield* countValues(value, listed && [], new Set()) : values
}
