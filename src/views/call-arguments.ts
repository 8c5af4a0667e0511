import type { CallInput } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { parsePartialJson } from '../core/partial-json.ts'

/** The arguments as a value: of a text that was cut off, the part that is certain, or the text itself. */
export function projectArguments(input: CallInput): Json {
  if (input.kind === 'complete') return input.value
  return parsePartialJson(input.text) ?? (input.text.trim() === '' ? {} : input.text)
}
