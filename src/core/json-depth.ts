import type { Json } from './json.ts'
import type { JsonWidth } from './json-width.ts'

/**
 * How many levels a value of a tool, a model or a host may have. Eight fewer than a whole document, so that a
 * client can send back the message that contains it: body, messages, message, parts, part, and then the
 * value.
 */
export const deepestValue = 56

/** How many levels any document may have: an HTTP body, an event, a stored row. */
export const deepestJson = 64

/** Replaces a part that is nested so deep that its JSON text cannot be produced either. */
const unwritable = '[nested too deep to be kept]'

/** Whether a value has more levels than this. It goes no further down than `most`, however deep the value is. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (!isContainer(value)) return false
  if (most <= 0) return true
  for (const item of itemsOf(value)) {
    if (isContainer(item) && isDeeperThan(item, most - 1)) return true
  }
  return false
}

/**
 * The value with at most `most` levels: deeper parts are replaced by their JSON text, so that nothing is lost
 * and no code that walks the value recurses without bound. The same value if it is not too deep.
 */
export function flattenJson(value: Json, most: number): Json {
  if (!isDeeperThan(value, most)) return value
  const root: { at: Json } = { at: null }
  const open: { from: Json; level: number; put: (copy: Json) => void }[] = [
    { from: value, level: 1, put: (copy) => (root.at = copy) },
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { from, level, put } = next
    if (!isContainer(from)) put(from)
    else if (level > most) put(textOf(from))
    else if (Array.isArray(from)) {
      const copy: Json[] = Array.from({ length: from.length }, () => null)
      put(copy)
      for (const [index, item] of (from as readonly Json[]).entries()) {
        open.push({ from: item, level: level + 1, put: (made) => (copy[index] = made) })
      }
    } else {
      const copy: Record<string, Json> = {}
      put(copy)
      for (const [key, item] of Object.entries(from)) {
        // Defines every key at once, so that the order of keys is kept although nested values are filled in
        // later; `defineProperty` because `__proto__` is a key like any other.
        const define = (made: Json) =>
          Object.defineProperty(copy, key, {
            value: made,
            enumerable: true,
            configurable: true,
            writable: true,
          })
        define(null)
        open.push({ from: item, level: level + 1, put: define })
      }
    }
  }
  return root.at
}

/** The measures of a JSON text that are known without parsing it. */
export interface JsonTextShape extends JsonWidth {
  /** The deepest level. */
  readonly depth: number
  /** The most members of one object. */
  readonly members: number
}

/** Keys that begin with the same so many characters count as one: of longer ones no text has too many. */
const keyChars = 256

/**
 * For a text that arrives in pieces: called with each piece, it returns the shape of all so far. Keys are counted up to
 * one more than `mostKeys`: those of a long text would take more memory than the text.
 */
export function createJsonScanner(mostKeys: number): (piece: string) => JsonTextShape {
  let depth = 0
  let most = 0
  let values = 0
  let members = 0
  /** Of each object that is open, by its level. */
  const membersAt: number[] = []
  /** As they are written: two spellings of one key count as two. */
  const keys = new Set<string>()
  /** What of the last string was in earlier pieces. */
  let before = ''
  const scan: StringScan = { at: 0, inString: false }
  /** Nothing has followed the last bracket that was opened. */
  let isEmpty = false
  return (piece) => {
    // Where the last string is in this piece.
    let from = 0
    let end = 0
    let room = keyChars - before.length
    for (; scan.at < piece.length; scan.at++) {
      if (scan.inString) {
        if (!leaveString(piece, scan)) break
        end = scan.at
        continue
      }
      const char = piece[scan.at]
      if (char === '"') {
        scan.inString = true
        isEmpty = false
        before = ''
        room = keyChars
        from = end = scan.at + 1
      } else if (char === '{' || char === '[') {
        most = Math.max(most, ++depth)
        membersAt[depth] = 0
        values++
        isEmpty = true
      } else if (char === '}' || char === ']') {
        depth--
        if (isEmpty) values--
        isEmpty = false
      } else if (char === ',') values++
      else if (char === ':') {
        const count = (membersAt[depth] ?? 0) + 1
        membersAt[depth] = count
        if (count > members) members = count
        if (keys.size <= mostKeys) keys.add(before + piece.slice(from, Math.min(end, from + room)))
      } else if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') isEmpty = false
    }
    scan.at -= piece.length
    before += piece.slice(from, Math.min(scan.inString ? piece.length : end, from + room))
    return { depth: most, members, values, keys: keys.size }
  }
}

/** A position in a JSON text, and whether it is in a string. */
export interface StringScan {
  at: number
  inString: boolean
}

/** Goes to the quote that ends the string. False: it is not in this text; `at` is then where the next text goes on. */
export function leaveString(text: string, scan: StringScan): boolean {
  for (;;) {
    const found = text.indexOf('"', scan.at)
    const end = found === -1 ? text.length : found
    const isEscaped = endsInEscape(text, scan.at, end)
    scan.at = isEscaped ? end + 1 : end
    if (found === -1) return false
    if (!isEscaped) {
      scan.inString = false
      return true
    }
  }
}

/** Whether what stands at `end` is escaped: by an odd number of backslashes before it. */
function endsInEscape(text: string, from: number, end: number): boolean {
  let at = end
  while (at > from && text[at - 1] === '\\') at--
  return (end - at) % 2 === 1
}

type Container = Extract<Json, object>

const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null

const itemsOf = (value: Json): readonly unknown[] =>
  Array.isArray(value) ? value : Object.values(value as object)

function textOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    // Some engines write JSON by recursion, and run out of stack.
    return unwritable
  }
}
