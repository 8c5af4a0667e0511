import type { Json } from './json.ts'

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

/** What can be told of a JSON text without parsing it. */
export interface JsonTextShape {
  /** The deepest level. */
  readonly depth: number
  /** About how many values are inside: empty lists and objects count as if they had one. */
  readonly values: number
  /** The most keys of one object. */
  readonly keys: number
}

/** For a text that arrives in pieces: called with each piece, it returns the shape of all so far. */
export function createJsonScanner(): (piece: string) => JsonTextShape {
  let depth = 0
  let most = 0
  let values = 0
  let keys = 0
  /** The keys so far of the object at each level. */
  const keysAt: number[] = []
  let inString = false
  let isEscaped = false
  return (piece) => {
    for (let index = 0; index < piece.length; index++) {
      const char = piece[index]
      if (isEscaped) isEscaped = false
      else if (inString) {
        if (char === '\\') isEscaped = true
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if (char === '{' || char === '[') {
        most = Math.max(most, ++depth)
        keysAt[depth] = 0
        values++
      } else if (char === '}' || char === ']') depth--
      else if (char === ',') values++
      else if (char === ':') keys = Math.max(keys, (keysAt[depth] = (keysAt[depth] ?? 0) + 1))
    }
    return { depth: most, values, keys }
  }
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
