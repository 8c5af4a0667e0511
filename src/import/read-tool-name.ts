import type { JsonObject } from '../core/json.ts'
import { textOf } from './old-fields.ts'

/** The name of a tool. It is shown, stored and compared, so what no database takes is replaced. */
export function readToolName(object: JsonObject): string {
  const name = textOf(object, 'toolName', 'tool_name', 'name', 'tool') ?? ''
  return name.trim() === '' ? 'unknown' : name.replaceAll(/\p{Cc}|\p{Cs}/gu, '\u{fffd}')
}
