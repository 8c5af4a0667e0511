import type { Step } from '../core/message.ts'
import type { FinishReason } from '../core/usage.ts'

const cutReasons: ReadonlySet<FinishReason> = new Set(['stopped', 'interrupted', 'error', 'length'])

/**
 * Whole, and said in one model call. Of any other, providers would refuse the reasoning and the ids of items: what belongs
 * together was not made together.
 */
export const isPristineStep = (step: Step): boolean =>
  isWholeStep(step) && step.resumedAfter === undefined

/** It ended, and by itself: nothing that it was about to say is missing. */
export const isWholeStep = (step: Step): boolean =>
  step.status === 'ended' && !cutReasons.has(step.finishReason)
