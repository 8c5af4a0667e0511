import type { Step } from '../core/message.ts'
import type { FinishReason } from '../core/usage.ts'

const cutReasons: ReadonlySet<FinishReason> = new Set(['stopped', 'interrupted', 'error', 'length'])

/** It ended, and by itself: nothing that it was about to say is missing. */
export const isWholeStep = (step: Step): boolean =>
  step.status === 'ended' && !cutReasons.has(step.finishReason)
