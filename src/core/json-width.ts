/**
 * How many values may be inside one value of a tool, a model, a host or a person, and how many keys one object of it may
 * have: keys take ten times as long as the items of a list. More would block the event loop for as long as the value is
 * copied, checked against a schema or written, none of which can be paused (OP7).
 */
export const mostValues = 500_000
export const mostKeys = 25_000

/** How many values an imported message may have in all: it may be a turn of thousands of calls. */
export const mostMessageValues = 2 * mostValues

const [values, keys] = [mostValues, mostKeys].map((most) => most.toLocaleString('en-US'))

/** What such a value has. */
export const tooWide = `more than ${values} values inside, or an object of more than ${keys} keys`

/** Whether a value has more values inside than `most`, or an object with too many keys. Stops once it has counted them. */
export function isTooWide(value: unknown, most = mostValues): boolean {
  const open: object[] = []
  const add = (item: unknown) => {
    if (typeof item === 'object' && item !== null) open.push(item)
  }
  add(value)
  let left = most
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next)
    left -= items.length
    if (left < 0 || (!Array.isArray(next) && items.length > mostKeys)) return true
    for (const item of items) add(item)
  }
  return false
}
