import type { CallId } from '../core/ids.ts'
import type { Step, Turn } from '../core/message.ts'

const blankLine = '\n\n'

/**
 * What a step says around its calls (CO1): text before a call is commentary on that call, text after
 * the last one is added to the last one's. Trimmed; blank is none.
 */
export function commentaryOf(step: Step): ReadonlyMap<CallId, string> {
  const commentary = new Map<CallId, string>()
  let last: CallId | undefined
  let pending = ''
  const assign = (id: CallId) => {
    const text = [commentary.get(id) ?? '', pending.trim()].filter((some) => some !== '')
    if (text.length > 0) commentary.set(id, text.join(blankLine))
    pending = ''
  }
  for (const part of step.parts) {
    if (part.type === 'text') pending += part.text
    if (part.type !== 'call') continue
    assign(part.id)
    last = part.id
  }
  if (last !== undefined) assign(last)
  return commentary
}

export const hasCalls = (step: Step): boolean => step.parts.some((part) => part.type === 'call')

/** All that a step says, once: a blank line stands where a call came between. */
export function stepTextOf(step: Step): string {
  const pieces = ['']
  for (const part of step.parts) {
    if (part.type === 'call') pieces.push('')
    if (part.type === 'text') pieces.push((pieces.pop() ?? '') + part.text)
  }
  return pieces.filter((piece) => piece.trim() !== '').join(blankLine)
}

/**
 * A step whose text is (part of) the answer. An abandoned attempt never is, and an open step is a
 * draft until its end shows that no call follows.
 */
export const isAnswerStep = (step: Step): boolean =>
  step.status === 'ended' && !hasCalls(step) && stepTextOf(step) !== ''

/** The answer: it only ever grows, because a step that has ended does not change (CO2). */
export const answerOf = (turn: Turn): string =>
  turn.steps.filter(isAnswerStep).map(stepTextOf).join(blankLine)
