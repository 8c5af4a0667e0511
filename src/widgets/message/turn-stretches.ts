import type { Step, Turn } from '../../core/message.ts'

/**
 * A turn, divided at the messages that joined it while it ran, each stretch as a turn of its own: what a tool did because of a
 * message stands below that message (IN3). A turn that nobody steered is its only stretch.
 */
export function stretchesOf(turn: Turn): readonly Turn[] {
  const { steps, progress } = turn
  const ends = steps.flatMap((step, index) => {
    const isSteered = step.parts.some(({ type }) => type === 'steering')
    // What follows may not have begun, and yet it is what the turn is at: it thinks below the message.
    const goesOn = index < steps.length - 1 || progress.status === 'running'
    return isSteered && goesOn ? [index + 1] : []
  })
  if (ends.length === 0) return [turn]
  return [0, ...ends].map((from, index) => {
    const to = ends[index]
    return to === undefined
      ? { ...turn, steps: steps.slice(from) }
      : { ...turn, steps: steps.slice(from, to), progress: endedAfter(steps[to - 1], turn) }
  })
}

const endedAfter = (step: Step | undefined, { createdAt }: Turn): Turn['progress'] => ({
  status: 'ended',
  ending: { kind: 'completed' },
  endedAt: step !== undefined && 'endedAt' in step ? step.endedAt : createdAt,
})
