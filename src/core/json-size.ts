/** Whether the JSON text of a value has more characters than this. See `countJsonChars`. */
export const isLargerThan = (value: unknown, mostChars: number): boolean =>
  countJsonChars(value, mostChars) > mostChars

/**
 * A lower bound of the characters of a value's JSON text: escapes are not counted. It uses no recursion, does
 * not produce the text, and stops once it has counted more than `mostChars`, so a value that refers to itself
 * ends too. Of a value whose getters throw, only the readable part is counted: the code that stores it
 * reports the error.
 */
export function countJsonChars(value: unknown, mostChars: number): number {
  return measureJson(value, mostChars).chars
}

/** How large a value is: characters of its JSON text, and values in it, itself included. */
export interface JsonSize {
  readonly chars: number
  readonly values: number
}

const sizes = new WeakMap<object, JsonSize>()
/** To count what is smaller takes no longer than to look it up. */
const knownChars = 10_000

/**
 * The size of a value that nobody changes any more. It is counted once: of a result the call, the turn and the memory of its
 * owner have limits, and to count through hundreds of thousands of values takes many milliseconds (OP7).
 */
export function sizeOfJson(value: unknown): JsonSize {
  const key = typeof value === 'object' ? value : null
  const known = key === null ? undefined : sizes.get(key)
  if (known !== undefined) return known
  const size = measureJson(value, Number.POSITIVE_INFINITY)
  if (key !== null && size.chars >= knownChars) sizes.set(key, size)
  return size
}

/** As `countJsonChars`, with the number of the values that were counted. */
export function measureJson(value: unknown, mostChars: number): JsonSize {
  const open: unknown[] = [value]
  let [chars, values] = [0, 0]
  while (open.length > 0 && chars <= mostChars) {
    const next = open.pop()
    values++
    chars += sizeOf(next)
    if (typeof next !== 'object' || next === null) continue
    try {
      chars += openItems(next, open, mostChars - chars)
    } catch {
      // A getter or a proxy that fails.
    }
  }
  return { chars, values }
}

/** Adds the items of a container to those that are still to be counted, and counts what is written between them. */
function openItems(container: object, open: unknown[], most: number): number {
  if (Array.isArray(container)) {
    // A comma each, of a hole too. Not by its keys, which would be a text for each item.
    if (container.length > most) return container.length
    for (const item of container as readonly unknown[]) open.push(item)
    return container.length
  }
  let count = 0
  for (const key of Object.keys(container)) {
    // A comma, the key, its quotes and a colon.
    count += key.length + 4
    if (count > most) break
    open.push((container as Readonly<Record<string, unknown>>)[key])
  }
  return count
}

function sizeOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'number':
      return String(value).length
    case 'object':
      return value === null ? 4 : 2
    default:
      return 4
  }
}
