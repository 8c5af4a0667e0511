import { isJsonObject, type Json } from '../core/json.ts'
import { sameJson } from '../views/same-json.ts'
import { idOf } from './old-fields.ts'

/** The places of what stands in the list before, to the letter: apps have stored messages twice. */
export function findRepeats(values: readonly Json[]): ReadonlySet<number> {
  const first = new Map<string, Json>()
  const repeats = new Set<number>()
  for (const [index, value] of values.entries()) {
    const id = isJsonObject(value) ? idOf(value, 'id', 'message_id', 'messageId') : undefined
    if (id === undefined) continue
    const known = first.get(id)
    if (known === undefined) first.set(id, value)
    else if (sameJson(known, value)) repeats.add(index)
  }
  return repeats
}
