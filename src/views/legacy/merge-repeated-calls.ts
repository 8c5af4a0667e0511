import { sameJson } from '../same-json.ts'
import type { Mend, OldCall } from './old-message.ts'
import type { ReadPart } from './read-part.ts'

/**
 * A call that stands twice in a message is one call, and what was said last of it holds (CD5). Some
 * providers give two calls one id: those differ in name, or in arguments that both are whole.
 */
export function mergeRepeatedCalls(parts: readonly ReadPart[], mend: Mend): readonly ReadPart[] {
  const merged: ReadPart[] = []
  for (const part of parts) {
    const at =
      part.type === 'call'
        ? merged.findIndex((other) => isCall(other) && isSameCall(other, part))
        : -1
    if (at === -1) {
      merged.push(part)
      continue
    }
    mend(`The call ${String((part as OldCall).id)} stood there twice: the last one holds.`)
    merged[at] = part
  }
  return merged
}

const isCall = (part: ReadPart): part is OldCall => part.type === 'call'

function isSameCall(left: OldCall, right: OldCall): boolean {
  if (left.id === undefined || left.id !== right.id || left.name !== right.name) return false
  if (left.outcome === 'open' || left.outcome === 'waiting') return true
  return (
    left.input.kind !== right.input.kind ||
    (left.input.kind === 'complete' &&
      right.input.kind === 'complete' &&
      sameJson(left.input.value, right.input.value))
  )
}
