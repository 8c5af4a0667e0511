import type { CallOutcome } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { flagOf, textOf } from './old-fields.ts'

const words: ReadonlyMap<string, 'succeeded' | 'failed' | 'open'> = new Map([
  ...['completed', 'complete', 'success', 'succeeded', 'done', 'finished'].map(
    (word) => [word, 'succeeded'] as const,
  ),
  ...['error', 'failed', 'failure', 'errored'].map((word) => [word, 'failed'] as const),
  ...['running', 'pending', 'in_progress', 'in-progress', 'started', 'call', 'partial-call'].map(
    (word) => [word, 'open'] as const,
  ),
])

/** What a call says of itself, in the words and flags that apps have used. */
export function readCallStatus(call: JsonObject): 'succeeded' | 'failed' | 'open' | undefined {
  const word = textOf(call, 'status', 'state')?.toLowerCase()
  if (word !== undefined && words.has(word)) return words.get(word)
  const hasFailed =
    flagOf(call, 'success') === false || flagOf(call, 'isError', 'is_error') === true
  return hasFailed ? 'failed' : undefined
}

/** What a failed call says of it: its error, or else its result. */
export const failureOf = (error: string | undefined, result: Json | undefined): CallOutcome => ({
  state: 'failed',
  cause: 'tool-error',
  error: error ?? readErrorValue(result) ?? '',
})

/** An error as a text: the text itself, or what an object calls its message. */
export function readErrorValue(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === false || value === '') return undefined
  if (typeof value === 'string') return value
  return (
    (isJsonObject(value) ? textOf(value, 'message', 'error') : undefined) ?? JSON.stringify(value)
  )
}
