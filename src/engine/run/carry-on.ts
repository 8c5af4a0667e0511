import type { OnPart, PartResult } from '../model/call-model.ts'
import { type CarryOnVerdict, createCarryOnMatcher } from './carry-on-text.ts'
import type { ModelPart } from '../model/model-part.ts'

export interface CarryOnTarget {
  /** The text that the broken-off attempt had shown. */
  readonly shown: string
  /** Whether the provider was sent that text as the beginning of its own answer. */
  readonly isPrefixed: boolean
  /**
   * Called before the first part is delivered. After `continues`, it is called with `diverges` where reasoning had to be
   * delivered before there was text to compare, and the text then differs.
   */
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
 * Reasoning says nothing about that: too much of it is delivered in the open step, and the text is still compared.
 */
export function createCarryOn(target: CarryOnTarget): OnPart {
  const { onPart, shown } = target
  const matcher = createCarryOnMatcher(target)
  let held: ModelPart[] = []
  let heldText = 0
  let heldOther = 0
  let isDecided = false
  /** Whether the step goes on although its text is still compared. */
  let isResumed = false

  const deliver = async (parts: readonly ModelPart[]): Promise<PartResult> => {
    for (const part of parts) if ((await onPart(part)) === 'enough') return 'enough'
    return 'more'
  }
  const release = (verdict: CarryOnVerdict): Promise<PartResult> => {
    isDecided = true
    if (!isResumed || verdict.kind === 'diverges') target.decided(verdict.kind)
    return deliver(verdict.kind === 'diverges' ? held : restOf(held, verdict.drop, target.joined))
  }
  const releaseOther = (): Promise<PartResult> => {
    isResumed = true
    target.decided('continues')
    const other = held.filter((part) => !isText(part))
    held = held.filter(isText)
    heldOther = 0
    return deliver(other)
  }

  return (part) => {
    if (isDecided || (isResumed && isSilent(part))) return onPart(part)
    held.push(part)
    if (isText(part)) heldText += sizeOf(part)
    else if (isSilent(part)) heldOther += sizeOf(part)
    else return release(matcher.finish())
    const verdict = part.type === 'text-delta' ? matcher.add(part.text) : null
    if (verdict !== null) return release(verdict)
    if (heldText > 2 * shown.length + mostHeld) return release(matcher.finish())
    return heldOther > mostHeld ? releaseOther() : 'more'
  }
}

const sizeOf = (part: ModelPart): number =>
  1 + (part.type === 'text-delta' || part.type === 'reasoning-delta' ? part.text.length : 0)

const isText = ({ type }: ModelPart): boolean =>
  type === 'text-start' || type === 'text-delta' || type === 'text-end'

/** After such a part, text may still arrive that repeats what was shown. */
function isSilent({ type }: ModelPart): boolean {
  switch (type) {
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
