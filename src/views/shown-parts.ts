import type { JsonObject } from '../core/json.ts'
import type { Part, Step } from '../core/message.ts'
import { hasCalls } from './commentary.ts'

/** The mark on a text part of an attempt that was broken off and run again (AG8). */
export type Attempt = 'abandoned'

/** The step was broken off and run again, so a screen may collapse it. */
export const isBrokenAttempt = (step: Step): boolean =>
  step.status === 'abandoned' && !hasCalls(step)

const shown = new WeakMap<Step, readonly Part[]>()

/**
 * The parts of a step as a UI message has them. The text of a broken attempt is marked. A client accepts that
 * mark only while the text is open for it, so the text of a step that may still break off stays open until a
 * call follows or the step ends.
 */
export function shownPartsOf(step: Step): readonly Part[] {
  const known = shown.get(step)
  if (known !== undefined) return known
  const isUndecided = step.status === 'open' && !hasCalls(step)
  const isBroken = isBrokenAttempt(step)
  const blocks = new Set<string>()
  const parts = step.parts.map((part, index): Part => {
    if (part.type !== 'text') return part
    // A client can have one open text per id.
    const isRepeated = blocks.has(part.block)
    blocks.add(part.block)
    const own = isRepeated ? { ...part, block: `${part.block}~${index}` } : part
    if (isBroken) return { ...own, providerMetadata: withAttempt(part.providerMetadata) }
    return isUndecided && part.state === 'done' ? { ...own, state: 'streaming' } : own
  })
  shown.set(step, parts)
  return parts
}

const withAttempt = (metadata: JsonObject | undefined): JsonObject => ({
  ...metadata,
  holdfast: { attempt: 'abandoned' satisfies Attempt },
})
