import type { CallInput } from '../core/call.ts'
import { isJsonObject, type Json } from '../core/json.ts'

/**
 * Arguments that may be a value or the JSON text of one. Text that was cut off is kept as it is: no
 * made-up arguments. `exact`: a text is a value like any other, unless it holds an object.
 */
export function readArguments(value: Json | undefined, exact = false): CallInput {
  if (typeof value !== 'string') {
    return { kind: 'complete', value: value ?? (exact && value === null ? null : {}) }
  }
  const parsed = parseJsonText(value)
  if (isJsonObject(parsed)) return { kind: 'complete', value: parsed }
  if (exact) return { kind: 'complete', value }
  // A tool without arguments (CL7).
  if (value.trim() === '') return { kind: 'complete', value: {} }
  if (parsed !== undefined) return { kind: 'complete', value: parsed }
  return /^\s*[{[]/.test(value) ? { kind: 'partial', text: value } : { kind: 'complete', value }
}

export function parseJsonText(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
