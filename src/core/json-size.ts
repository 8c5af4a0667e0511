/**
 * Whether the JSON text of a value has more characters than this: at least that many for certain, for what has to be
 * escaped is not looked for. Without recursion and without making the text, and it stops as soon as it knows: a value
 * that refers to itself is as large as one likes.
 */
export function isLargerThan(value: unknown, mostChars: number): boolean {
  const open: unknown[] = [value]
  let left = mostChars
  while (open.length > 0) {
    const next = open.pop()
    left -= sizeOf(next)
    if (left < 0) return true
    if (typeof next !== 'object' || next === null) continue
    const isList = Array.isArray(next)
    for (const key of Object.keys(next)) {
      // A comma; and of an object the key, its quotes and a colon.
      left -= isList ? 1 : key.length + 4
      if (left < 0) return true
      open.push((next as Readonly<Record<string, unknown>>)[key])
    }
  }
  return false
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
