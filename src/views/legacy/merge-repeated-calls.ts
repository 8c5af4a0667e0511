import { sameJson } from '../same-json.ts'
import type { Mend, OldCall } from './old-message.ts'
import type { ReadPart } from './read-part.ts'

/**
 * A call that stands twice in a message is one call, and what was said last of it holds (CD5). Some
 * providers give two calls one id: those differ in name, or in arguments that both are whole.
 */
export function mergeRepeatedCalls(parts: readonly ReadPart[], mend: Mend): readonly ReadPart[] {
  const merged: ReadPart[] = []
  const places = new Map<string, number[]>()
  for (const part of parts) {
    const same = part.type === 'call' && part.id !== undefined ? (places.get(part.id) ?? []) : []
    const at = same.find((place) => isSameCall(merged[place] as OldCall, part as OldCall))
    if (at !== undefined) {
      mend(`The call ${(part as OldCall).id ?? ''} stood there twice: the last one holds.`)
      merged[at] = part
      continue
    }
    if (part.type === 'call' && part.id !== undefined) places.set(part.id, [...same, merged.length])
    merged.push(part)
  }
  return merged
}

function isSameCall(left: OldCall, right: OldCall): boolean {
  if (left.name !== right.name) return false
  if (left.outcome === 'open' || left.outcome === 'waiting') return true
  return (
    left.input.kind !== right.input.kind ||
    (left.input.kind === 'complete' &&
      right.input.kind === 'complete' &&
      sameJson(left.input.value, right.input.value))
  )
}
