/** Whether the JSON text of a value has more characters than this. See `countJsonChars`. */
export const isLargerThan = (value: unknown, mostChars: number): boolean =>
  countJsonChars(value, mostChars) > mostChars

/**
 * A lower bound of the characters of a value's JSON text: escapes are not counted. It uses no recursion, does
 * not produce the text, and stops once it has counted more than `mostChars`, so a value that refers to itself
 * ends too. Of a value whose getters throw, only the readable part is counted: the code that stores it
 * reports the error.
 * @param perValue counted for each value besides its characters
 */
export function countJsonChars(value: unknown, mostChars: number, perValue = 0): number {
  const open: unknown[] = [value]
  let count = 0
  while (open.length > 0 && count <= mostChars) {
    const next = open.pop()
    count += sizeOf(next) + perValue
    if (typeof next !== 'object' || next === null) continue
    try {
      count += openItems(next, open, mostChars - count)
    } catch {
      // A getter or a proxy that fails.
    }
  }
  return count
}

/** Adds the items of a container to those that are still to be counted, and counts what is written between them. */
function openItems(container: object, open: unknown[], most: number): number {
  const isList = Array.isArray(container)
  let count = 0
  for (const key of Object.keys(container)) {
    // A comma; and of an object the key, its quotes and a colon.
    count += isList ? 1 : key.length + 4
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
