import type { CallOutput } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { deepestJson, flattenJson } from '../core/json-depth.ts'

/** The output columns of a call. A lazy read returns `output: null` and the bytes that it left out. */
export interface StoredOutput {
  readonly output: string | null
  readonly outputBytes: number | null
  readonly modelOutput: string | null
}

/** `undefined`: there is no result. */
export function readOutput(stored: StoredOutput): CallOutput | undefined {
  if (stored.output !== null) {
    const value = readStoredJson(stored.output)
    // A result that is no longer JSON is returned as text: it is the nearest to what the tool returned (LG7).
    return { kind: 'inline', value: value === undefined ? stored.output : value }
  }
  return stored.outputBytes === null ? undefined : { kind: 'omitted', bytes: stored.outputBytes }
}

/**
 * Parses JSON of a row. A value that an earlier version stored deeper than the limit is flattened on read
 * (CL6a, LG7).
 */
export function readStoredJson(text: string): Json | undefined {
  const value = parseStoredJson(text)
  return value === undefined ? undefined : flattenJson(value, deepestJson)
}

export function parseStoredJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
