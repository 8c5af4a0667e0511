import { isJsonObject, type Json } from '../../core/json.ts'
import { textOf } from './old-fields.ts'

const words: ReadonlyMap<string, 'succeeded' | 'failed' | 'open'> = new Map([
  ...['completed', 'complete', 'success', 'succeeded', 'done', 'finished'].map(
    (word) => [word, 'succeeded'] as const,
  ),
  ...['error', 'failed', 'failure', 'errored'].map((word) => [word, 'failed'] as const),
  ...['running', 'pending', 'in_progress', 'in-progress', 'started', 'call', 'partial-call'].map(
    (word) => [word, 'open'] as const,
  ),
])

/** The words that apps have used for the state of a call. */
export const readStatusWord = (word: string | undefined) =>
  word === undefined ? undefined : words.get(word.toLowerCase())

/** An error as a text: the text itself, or what an object calls its message. */
export function readErrorValue(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === false || value === '') return undefined
  if (typeof value === 'string') return value
  return (
    (isJsonObject(value) ? textOf(value, 'message', 'error') : undefined) ?? JSON.stringify(value)
  )
}
