import type { Step } from '../core/message.ts'
import type { FinishReason } from '../core/usage.ts'

const cutReasons: ReadonlySet<FinishReason> = new Set(['stopped', 'interrupted', 'error', 'length'])

/**
 * Whether a step is complete and was produced by one model call. Of any other step, providers would refuse
 * the reasoning and the item ids, which are only valid together.
 */
export const isPristineStep = (step: Step): boolean =>
  isWholeStep(step) && step.resumedAfter === undefined

/** Whether a step ended by itself, so that nothing of it is missing. */
export const isWholeStep = (step: Step): boolean =>
  step.status === 'ended' && !cutReasons.has(step.finishReason)
