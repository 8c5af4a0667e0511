import { isJsonObject, type Json, type JsonObject } from 'holdfast/widgets'

/** What old payloads call a thing differs, and what is missing is not a reason to draw nothing (CD5). */
export const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** More than anyone reads on a card; the whole is in the widget. */
const longest = 20_000

export function textOf(value: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = value[name]
    if (typeof found === 'string' && found.trim() !== '') return found.slice(0, longest)
    if (typeof found === 'number') return String(found)
  }
  return undefined
}

export function numberOf(value: JsonObject, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = value[name]
    const number = typeof found === 'string' ? Number.parseFloat(found) : found
    if (typeof number === 'number' && Number.isFinite(number)) return number
  }
  return undefined
}

export function listOf(value: JsonObject, ...names: readonly string[]): readonly Json[] {
  for (const name of names) {
    const found = value[name]
    if (Array.isArray(found)) return found as readonly Json[]
  }
  return []
}
