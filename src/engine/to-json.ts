import { errorTextOfThrown, toReadableThrown } from '../core/error-text.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Json } from '../core/json.ts'
import { sizeOfJson } from '../core/json-size.ts'
import { deepestValue, flattenJson } from '../core/json-depth.ts'
import { isTooWide, mostWidth, tooWide } from '../core/json-width.ts'

/** A value that JSON cannot represent, or that cannot be stored. Its message ends the sentence "…: it". */
export class UnstorableError extends TypeError {
  override readonly name = 'UnstorableError'
  /** Reading the value threw, and the message contains the text of that error. */
  readonly isThrown: boolean

  constructor(message: string, options: ErrorOptions & { readonly isThrown?: boolean } = {}) {
    super(message, options)
    this.isThrown = options.isThrown ?? false
  }
}

/** How many more values one value may have: an object that occurs in many places is written once for each of them. */
interface Budget {
  left: number
  /** How many keys its objects have had, alike or different. */
  keys: number
  /** The different ones of its large objects: without them, each would be copied before all are refused (OP7). */
  readonly different: Set<string>
}

const newBudget = (): Budget => ({ left: mostWidth.values, keys: 0, different: new Set() })

/** An object with more keys than this is large. */
const manyKeys = 1_000

/**
 * A value as a database would return it: `undefined` is null, and what is nested deeper than `deepestValue` levels
 * becomes its JSON text (CL6a). A value that JSON cannot represent throws.
 */
export function toJson(value: unknown): Json {
  const budget = newBudget()
  try {
    const copy = copyPlain(value, 1, budget)
    if (copy !== undefined) {
      // Most values have so few keys that it need not be known which of them are different.
      if (budget.keys > mostWidth.keys && isTooWide(copy))
        throw new UnstorableError(`has ${tooWide}`)
      return copy
    }
    const text = writeJson(value, newBudget())
    if (text === undefined) return null
    const json = JSON.parse(text) as Json
    if (isTooWide(json)) throw new UnstorableError(`has ${tooWide}`)
    return flattenJson(json, deepestValue)
  } catch (error) {
    throw toUnstorable(error)
  }
}

/** The same for a result, with a limit on the characters of its JSON text. */
export function toResultJson(value: unknown, maxChars: number): Json {
  const json = toJson(value)
  if (sizeOfJson(json).chars > maxChars) {
    const most = maxChars.toLocaleString('en-US')
    throw new UnstorableError(`has more than ${most} characters, the limit of a result`)
  }
  return json
}

/**
 * The same for a named argument: a value that cannot be stored is the caller's fault, and the error names the argument.
 */
export function toGivenJson(
  name: string,
  value: unknown,
  maxChars = Number.POSITIVE_INFINITY,
): Json {
  try {
    return maxChars === Number.POSITIVE_INFINITY ? toJson(value) : toResultJson(value, maxChars)
  } catch (error) {
    const fault = (error as UnstorableError).message
    throw new HoldfastError('bad-request', `"${name}" cannot be stored: it ${fault}.`, {
      cause: error,
    })
  }
}

/**
 * Copies a value that is JSON already, which nearly every result is, without going through its text. Undefined as soon
 * as anything in it is not.
 */
function copyPlain(value: unknown, level: number, budget: Budget): Json | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  // JSON has neither NaN and the infinities, nor a negative zero.
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
  }
  if (typeof value !== 'object') return undefined
  if (level > deepestValue) return writeDeep(value)
  return Array.isArray(value)
    ? copyList(value, level + 1, budget)
    : copyObject(value, level + 1, budget)
}

function copyList(list: readonly unknown[], level: number, budget: Budget): Json | undefined {
  if ('toJSON' in list) return undefined
  spend(budget, list.length)
  const copy: Json[] = []
  for (const item of list) {
    const copied = copyPlain(item, level, budget)
    if (copied === undefined) return undefined
    copy.push(copied)
  }
  return copy
}

function copyObject(object: object, level: number, budget: Budget): Json | undefined {
  const kind: unknown = Object.getPrototypeOf(object)
  if ((kind !== Object.prototype && kind !== null) || 'toJSON' in object) return undefined
  const copy: Record<string, Json> = {}
  const keys = Object.keys(object)
  spend(budget, keys.length)
  budget.keys += keys.length
  if (keys.length > manyKeys) noteKeys(budget, keys)
  for (const key of keys) {
    const copied = copyPlain((object as Record<string, unknown>)[key], level, budget)
    if (copied === undefined || key === '__proto__') return undefined
    copy[key] = copied
  }
  return copy
}

function noteKeys({ different }: Budget, keys: readonly string[]): void {
  for (const key of keys) {
    different.add(key)
    if (different.size > mostWidth.keys) throw new UnstorableError(`has ${tooWide}`)
  }
}

function spend(budget: Budget, values: number): void {
  budget.left -= values
  if (budget.left < 0) throw new UnstorableError(`has ${tooWide}`)
}

/** JSON text within the budget: a value may generate itself while it is read, and never end. */
function writeJson(value: unknown, budget: Budget): string | undefined {
  return JSON.stringify(value, (_key, item: unknown) => {
    spend(budget, Array.isArray(item) ? Math.max(1, item.length) : 1)
    return item
  })
}

function writeDeep(value: object): Json | undefined {
  try {
    return writeJson(value, newBudget())
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    if (!(error instanceof RangeError) || !isPlainTree(value, mostWidth.values)) throw error
    // With a replacer function JSON is written by recursion, and the stack was too small for that.
    return JSON.stringify(value)
  }
}

/** Whether the value contains only plain objects, lists and simple values, and not too many; without recursion. */
function isPlainTree(root: object, most: number): boolean {
  const open: object[] = [root]
  let left = most
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const kind: unknown = Object.getPrototypeOf(value)
    const isPlain = Array.isArray(value) || kind === Object.prototype || kind === null
    if (!isPlain || 'toJSON' in value) return false
    const items: readonly unknown[] = Object.values(value)
    left -= items.length
    if (left < 0) return false
    for (const item of items) if (typeof item === 'object' && item !== null) open.push(item)
  }
  return true
}

function toUnstorable(thrown: unknown): UnstorableError {
  const error = toReadableThrown(thrown)
  if (error instanceof UnstorableError) return error
  const text = errorTextOfThrown(error)
  const known =
    error instanceof RangeError
      ? 'is nested too deep'
      : /circular/i.test(text)
        ? 'refers to itself'
        : /BigInt/.test(text)
          ? 'holds a BigInt'
          : undefined
  if (known !== undefined) return new UnstorableError(known, { cause: error })
  const fault = `throws when it is read (${text || 'without a reason'})`
  return new UnstorableError(fault, { cause: error, isThrown: true })
}
