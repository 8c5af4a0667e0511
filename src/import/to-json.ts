import type { Json } from '../core/json.ts'
import { deepestValue } from '../core/json-depth.ts'

/**
 * What a JSON text of the value would hold. Data that was read from a file is JSON already; data
 * that a program hands over may have dates, holes and `undefined` in it. `undefined`: nothing. What
 * is nested too deep for anything else to walk through is cut off, and `onCut` is told.
 */
export function toJson(value: unknown, onCut: () => void = () => {}): Json | undefined {
  return convert(value, 0, onCut)
}

function convert(value: unknown, depth: number, onCut: () => void): Json | undefined {
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
      return value === null ? null : convertContainer(value, depth, onCut)
    default:
      return undefined
  }
}

function convertContainer(value: object, depth: number, onCut: () => void): Json {
  if (depth >= deepestValue) {
    onCut()
    return null
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : value.toISOString()
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item) => convert(item, depth + 1, onCut) ?? null)
  }
  // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): readonly (readonly [string, Json])[] => {
      const json = convert(item, depth + 1, onCut)
      return json === undefined ? [] : [[key, json]]
    }),
  )
}
