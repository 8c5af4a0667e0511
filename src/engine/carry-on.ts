import type { OnPart, PartResult } from './call-model.ts'
import { type CarryOnVerdict, createCarryOnMatcher } from './carry-on-text.ts'
import type { ModelPart } from './model-part.ts'

export interface CarryOnTarget {
  /** What the broken attempt had shown. */
  readonly shown: string
  /** Whether the provider was given it as the beginning of its own answer. */
  readonly isPrefixed: boolean
  /** Called once, before the first part is delivered. */
  readonly decided: (verdict: CarryOnVerdict['kind']) => void
  /** Text with this id goes on with the text that was shown. */
  readonly joined: (id: string) => void
  readonly onPart: OnPart
}

/**
 * Stands before whoever stores the parts of an answer that was broken off and is asked for again. Parts are held until it is
 * known whether they carry on from what was shown (AG8): what was shown is dropped from them, and nothing else is.
 */
export function createCarryOn(target: CarryOnTarget): OnPart {
  const { onPart } = target
  const matcher = createCarryOnMatcher(target)
  const held: ModelPart[] = []
  let isDecided = false

  const release = async (verdict: CarryOnVerdict): Promise<PartResult> => {
    isDecided = true
    target.decided(verdict.kind)
    const parts = verdict.kind === 'diverges' ? held : restOf(held, verdict.drop, target.joined)
    for (const part of parts) if ((await onPart(part)) === 'enough') return 'enough'
    return 'more'
  }

  return (part) => {
    if (isDecided) return onPart(part)
    held.push(part)
    if (part.type === 'text-delta') {
      const verdict = matcher.add(part.text)
      return verdict === null ? 'more' : release(verdict)
    }
    return isSilent(part) ? 'more' : release(matcher.finish())
  }
}

/** After it, text may still come that repeats what was shown. */
function isSilent({ type }: ModelPart): boolean {
  switch (type) {
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
    case 'model-call-start':
    case 'model-call-response-metadata':
    case 'raw':
    case 'ping':
      return true
    default:
      return false
  }
}

/** The parts without the first characters of their text. A text of which something is left goes on with what was shown. */
function restOf(
  parts: readonly ModelPart[],
  drop: number,
  joined: (id: string) => void,
): readonly ModelPart[] {
  let left = drop
  let isJoined = false
  const ended = new Set(parts.flatMap((part) => (part.type === 'text-end' ? [part.id] : [])))
  const join = (id: string): void => {
    if (!isJoined) joined(id)
    isJoined = true
  }
  return parts.flatMap((part): readonly ModelPart[] => {
    if (part.type === 'text-start') {
      // Not begun: it is there, or begins with its first character that is left.
      return isJoined ? [part] : []
    }
    if (part.type !== 'text-delta') return [part]
    const text = part.text.slice(left)
    left -= part.text.length - text.length
    // All of it was shown; but what comes next of the same text goes on with it.
    if (text === '' && ended.has(part.id)) return []
    join(part.id)
    return text === '' ? [] : [{ ...part, text }]
  })
}
