/** How many values are inside a value, and how many different keys its objects have together. */
export interface JsonWidth {
  readonly values: number
  readonly keys: number
}

/**
 * The most that one value of a tool, a model, a host or a person may have. More would block the event loop for as long as
 * the value is parsed, copied, checked against a schema or written, none of which can be paused. A key that no object
 * before it has takes forty times as long as one that all of them share, and a kilobyte of memory (OP7).
 */
export const mostWidth: JsonWidth = { values: 500_000, keys: 25_000 }

/** What a value has that has more. */
export const tooWide = describeWidth(mostWidth)

export function describeWidth({ values, keys }: JsonWidth): string {
  const [mostValues, mostKeys] = [values, keys].map((most) => most.toLocaleString('en-US'))
  return `more than ${mostValues} values inside, or more than ${mostKeys} different keys`
}

export const isWider = (width: JsonWidth, most: JsonWidth): boolean =>
  width.values > most.values || width.keys > most.keys

/** Whether a value has more inside than `most`. Stops once it has counted that. */
export function isTooWide(value: unknown, most = mostWidth): boolean {
  const open: object[] = []
  const add = (item: unknown) => {
    if (typeof item === 'object' && item !== null) open.push(item)
  }
  add(value)
  let values = 0
  let keys = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next)
    values += items.length
    if (!Array.isArray(next)) keys += items.length
    if (values > most.values) return true
    for (const item of items) add(item)
  }
  // Most values have so few keys that it need not be known which of them are different.
  return keys > most.keys && hasMoreKeys(value, most.keys)
}

function hasMoreKeys(value: unknown, most: number): boolean {
  const keys = new Set<string>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) for (const key of Object.keys(next)) keys.add(key)
    if (keys.size > most) return true
    for (const item of Object.values(next)) open.push(item)
  }
  return false
}
