import { isOpenCall } from '../../core/call.ts'
import type { TurnEventBody } from '../../core/event.ts'
import type { Step } from '../../core/message.ts'
import { shownTextOf } from '../../views/carry-on-words.ts'
import { isWorthAnother } from '../model/model-error.ts'
import { namesOf } from '../model/model-list.ts'
import type { Run } from './run-context.ts'

/** One attempt at a step. */
export interface StepAttempt {
  readonly index: number
  /** A step that had shown text, and is continued (AG8). */
  readonly resumes?: Step
  /** The step has started, and a model has failed in it without any output. */
  readonly isBegun: boolean
}

/**
 * Called when a model has failed. If the agent has another model, and the failure is one that another model may not
 * have, the step is attempted with that model (AG5): in the same step if there was no output, else in a new step,
 * and the broken-off one stays in the turn. Null: there is no further attempt.
 */
export function replaceModel(run: Run, attempt: StepAttempt, error: unknown): StepAttempt | null {
  if (run.signal.aborted || !run.models.hasNext || !isWorthAnother(error)) return null
  const { modelId: model } = run.model
  run.models.moveOn()
  const { modelId: by } = namesOf(run.models.current)
  const turnError = run.failureTexts.ofModel(error, attempt.index)
  run.hooks.modelReplaced({ step: attempt.index, model, by, ...turnError })
  const push = (event: TurnEventBody): void =>
    run.ledger.push({ ...event, turnId: run.turnId, at: run.clock.now() })
  const { steps } = run.ledger.expected
  const step = steps.at(-1)
  if (step?.status === 'open' && isUntouched(step, attempt.resumes)) {
    push({ type: 'model-replaced', model, by, error: turnError })
    return { ...attempt, isBegun: true }
  }
  // Calls of an attempt that is given up must not run, whether they are complete or not.
  for (const part of step?.parts ?? []) {
    if (part.type !== 'call' || !isOpenCall(part)) continue
    const outcome = { state: 'interrupted', cause: 'stream-failed' } as const
    push({ type: 'call-settled', callId: part.id, outcome })
  }
  push({ type: 'step-abandoned', error: turnError })
  return { index: steps.length, isBegun: false }
}

/** Nothing was added to the step in this attempt. */
const isUntouched = (step: Step, before: Step | undefined): boolean =>
  step.parts.length === (before?.parts.length ?? 0) &&
  (before === undefined || shownTextOf(step) === shownTextOf(before))
