import type { Json } from '../core/json.ts'

/** A value as a database would give it back. `undefined` is null; what JSON cannot say throws. */
export function toJson(value: unknown): Json {
  const text = JSON.stringify(value)
  return text === undefined ? null : (JSON.parse(text) as Json)
}
