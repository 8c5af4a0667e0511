/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** A JSON object. Its keys are data, also those that mean something to JavaScript. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Whether a value is an object and neither `null` nor an array. What is in it is not looked at. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text, however deep; undefined if it is no JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
