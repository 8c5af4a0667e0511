import type { CallId } from '../core/ids.ts'
import type { Step, Turn } from '../core/message.ts'

const blankLine = '\n\n'

/**
 * The text of a step around its calls (CO1): text before a call is commentary on that call, text after the
 * last call is appended to that one's. Trimmed; blank text is no commentary.
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

/** The whole text of a step, with a blank line where a call was in between. */
export function stepTextOf(step: Step): string {
  const pieces = ['']
  for (const part of step.parts) {
    if (part.type === 'call') pieces.push('')
    if (part.type === 'text') pieces.push((pieces.pop() ?? '') + part.text)
  }
  return pieces.filter((piece) => piece.trim() !== '').join(blankLine)
}

/**
 * Whether the text of a step is (part of) the answer. An abandoned attempt never is, and an open step is a
 * draft until its end shows that no call follows.
 */
export const isAnswerStep = (step: Step): boolean =>
  step.status === 'ended' && !hasCalls(step) && stepTextOf(step) !== ''

/** The answer. It only ever grows, because an ended step does not change (CO2). */
export const answerOf = (turn: Turn): string =>
  turn.steps.filter(isAnswerStep).map(stepTextOf).join(blankLine)

/** An answer of a turn: its text, and the step in which it ended; without a step there is none. */
export interface Answer {
  readonly text: string
  readonly lastStep: Step | undefined
}

/**
 * The answers of a turn: what a person says while it runs ends one and begins another (IN3). The last one is the final
 * response, and empty if nothing was answered after that.
 */
export function answersOf(turn: Turn): readonly [...Answer[], Answer] {
  const answers: Step[][] = []
  let steps: Step[] = []
  for (const step of turn.steps) {
    if (isAnswerStep(step)) steps.push(step)
    if (!hasSteering(step)) continue
    answers.push(steps)
    steps = []
  }
  return [...answers.map(toAnswer), toAnswer(steps)]
}

const toAnswer = (steps: readonly Step[]): Answer => ({
  text: steps.map(stepTextOf).join(blankLine),
  lastStep: steps.at(-1),
})

/** Whether a person's message joined the turn behind this step. */
export const hasSteering = (step: Step): boolean =>
  step.parts.some((part) => part.type === 'steering')
