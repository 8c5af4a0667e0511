import type { Json } from '../core/json.ts'

/** A value as a database would give it back. `undefined` is null; what JSON cannot say throws. */
export function toJson(value: unknown): Json {
  const copy = copyPlain(value, 0)
  if (copy !== undefined) return copy
  const text = JSON.stringify(value)
  return text === undefined ? null : (JSON.parse(text) as Json)
}

/** Deeper than any result that people look at, and far from the end of the stack. */
const deepest = 100

/**
 * Of what is JSON already, which nearly every result is, a copy without the way over its text. Undefined
 * as soon as anything in it is not.
 */
function copyPlain(value: unknown, depth: number): Json | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  // JSON knows neither the others nor a zero with a sign.
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
  }
  if (typeof value !== 'object' || depth > deepest) return undefined
  return Array.isArray(value) ? copyList(value, depth + 1) : copyObject(value, depth + 1)
}

function copyList(list: readonly unknown[], depth: number): Json | undefined {
  if ('toJSON' in list) return undefined
  const copy: Json[] = []
  for (const item of list) {
    const copied = copyPlain(item, depth)
    if (copied === undefined) return undefined
    copy.push(copied)
  }
  return copy
}

function copyObject(object: object, depth: number): Json | undefined {
  const kind: unknown = Object.getPrototypeOf(object)
  if ((kind !== Object.prototype && kind !== null) || 'toJSON' in object) return undefined
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(object)) {
    const copied = copyPlain((object as Record<string, unknown>)[key], depth)
    if (copied === undefined || key === '__proto__') return undefined
    copy[key] = copied
  }
  return copy
}
