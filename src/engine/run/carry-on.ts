import type { OnPart, PartResult } from '../model/call-model.ts'
import { type CarryOnVerdict, createCarryOnMatcher } from './carry-on-text.ts'
import type { ModelPart } from '../model/model-part.ts'

export interface CarryOnTarget {
  /** The text that the broken-off attempt had shown. */
  readonly shown: string
  /** Whether the provider was sent that text as the beginning of its own answer. */
  readonly isPrefixed: boolean
  /** Called once, before the first part is delivered. */
  readonly decided: (verdict: CarryOnVerdict['kind']) => void
  /** The text block with this id continues the block that was shown. */
  readonly joined: (id: string) => void
  readonly onPart: OnPart
}

/**
 * What is held besides a repetition of the shown text, each character and each part as one: the limits of an answer count
 * what is delivered, so nothing else ends a model that thinks, or says nothing but white space, for ever (ST4a).
 */
const mostHeld = 100_000

/**
 * Wraps the consumer of the parts when a broken-off answer is requested again. Parts are held back until it is
 * known whether they continue the shown text (AG8); then exactly the characters that were shown before are dropped.
 */
export function createCarryOn(target: CarryOnTarget): OnPart {
  const { onPart, shown } = target
  const matcher = createCarryOnMatcher(target)
  const held: ModelPart[] = []
  let heldSize = 0
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
    heldSize +=
      1 + (part.type === 'text-delta' || part.type === 'reasoning-delta' ? part.text.length : 0)
    const verdict = part.type === 'text-delta' ? matcher.add(part.text) : null
    if (verdict !== null) return release(verdict)
    const mayRepeat = part.type === 'text-delta' || isSilent(part)
    return mayRepeat && heldSize <= 2 * shown.length + mostHeld ? 'more' : release(matcher.finish())
  }
}

/** After such a part, text may still arrive that repeats what was shown. */
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

/**
 * The parts without the first `drop` characters of their text. The first text with characters left continues the
 * shown block.
 */
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
      // A joined text block already exists; any other begins with its first remaining character.
      return isJoined ? [part] : []
    }
    if (part.type !== 'text-delta') return [part]
    const text = part.text.slice(left)
    left -= part.text.length - text.length
    // All of this delta was shown, but a later delta of the same block continues it.
    if (text === '' && ended.has(part.id)) return []
    join(part.id)
    return text === '' ? [] : [{ ...part, text }]
  })
}
