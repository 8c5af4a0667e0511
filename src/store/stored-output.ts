import type { CallOutput } from '../core/call.ts'
import { type Json, parseJson } from '../core/json.ts'
import { deepestJson, flattenJson } from '../core/json-depth.ts'

/** The output columns of a call. A lazy read returns `output: null` and the bytes that it left out. */
export interface StoredOutput {
  readonly output: string | null
  readonly outputBytes: number | null
  readonly modelOutput: string | null
  /** The value of `output`, where it was parsed when it was read. */
  readonly value?: Json
}

/** `undefined`: there is no result. */
export function readOutput(stored: StoredOutput): CallOutput | undefined {
  if (stored.output !== null) {
    return { kind: 'inline', value: stored.value ?? readOutputText(stored.output) }
  }
  return stored.outputBytes === null ? undefined : { kind: 'omitted', bytes: stored.outputBytes }
}

/** A result that is no longer JSON is returned as text: it is the nearest to what the tool returned (LG7). */
export const readOutputText = (text: string): Json => {
  const value = readStoredJson(text)
  return value === undefined ? text : value
}

/**
 * Parses JSON of a row. A value that an earlier version stored deeper than the limit is flattened on read
 * (CL6a, LG7).
 */
export function readStoredJson(text: string): Json | undefined {
  const value = parseJson(text)
  return value === undefined ? undefined : flattenJson(value, deepestJson)
}
