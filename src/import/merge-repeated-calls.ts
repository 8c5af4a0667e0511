import { sameJson } from '../views/same-json.ts'
import { type MessagePart, hasEnded, type Mend, type OldCall } from './old-message.ts'

/**
 * A call that stands twice in a message is one call, and what was said last of it holds (CD5), unless
 * it had ended before that: an end stays one (CL2). Some providers give two calls one id: those differ
 * in name, or in arguments that both are whole.
 */
export function mergeRepeatedCalls<Part extends MessagePart>(
  parts: readonly Part[],
  mend: Mend,
): readonly Part[] {
  const merged: Part[] = []
  const places = new Map<string, number[]>()
  for (const part of parts) {
    if (part.type !== 'call' || part.id === undefined) {
      merged.push(part)
      continue
    }
    const same = places.get(part.id) ?? []
    const at = same.find((place) => isSameCall(merged[place] as OldCall, part))
    if (at === undefined) {
      places.set(part.id, [...same, merged.length])
      merged.push(part)
    } else {
      const isBack = !hasEnded(part) && hasEnded(merged[at] as OldCall)
      const which = isBack ? 'the one that ended' : 'the last one'
      mend(`The call ${part.id} stood there twice: ${which} holds.`)
      if (!isBack) merged[at] = part
    }
  }
  return merged
}

function isSameCall(left: OldCall, right: OldCall): boolean {
  if (left.name !== right.name) return false
  if (!hasEnded(left)) return true
  return (
    left.input.kind !== right.input.kind ||
    (left.input.kind === 'complete' &&
      right.input.kind === 'complete' &&
      sameJson(left.input.value, right.input.value))
  )
}
