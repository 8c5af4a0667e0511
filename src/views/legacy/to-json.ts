import type { Json } from '../../core/json.ts'

const deepest = 200

/**
 * What a JSON text of the value would hold. Data that was read from a file is JSON already; data
 * that a program hands over may have dates, holes and `undefined` in it. `undefined`: nothing.
 */
export function toJson(value: unknown, depth = 0): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      // Minus zero and the numbers that are none do not survive being written.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : toContainer(value, depth)
    default:
      return undefined
  }
}

function toContainer(value: object, depth: number): Json {
  if (depth > deepest) return null
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : value.toISOString()
  }
  if (Array.isArray(value)) return Array.from(value, (item) => toJson(item, depth + 1) ?? null)
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): readonly (readonly [string, Json])[] => {
      const json = toJson(item, depth + 1)
      return json === undefined ? [] : [[key, json]]
    }),
  )
}
