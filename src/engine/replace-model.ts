import { isOpenCall } from '../core/call.ts'
import type { TurnEventBody } from '../core/event.ts'
import type { Step } from '../core/message.ts'
import { shownTextOf } from '../views/carry-on-words.ts'
import { isWorthAnother } from './model-error.ts'
import { namesOf } from './model-list.ts'
import type { Run } from './run-context.ts'

/** One try at a step. */
export interface StepAttempt {
  readonly index: number
  /** A step that had shown text, and is gone on with (AG8). */
  readonly resumes?: Step
  /** The step has begun, and a model has failed in it without a word. */
  readonly isBegun: boolean
}

/**
 * A model has failed. Where the agent has another, and the failure is one that another may not have, the step is tried with that (AG5):
 * in the same step if nothing was said, else in a new one, and the broken one stays where it stood. Null: there is no other try.
 */
export function replaceModel(run: Run, attempt: StepAttempt, error: unknown): StepAttempt | null {
  if (run.signal.aborted || !run.models.hasNext || !isWorthAnother(error)) return null
  const { modelId: model } = run.model
  run.models.moveOn()
  const { modelId: by } = namesOf(run.models.current)
  const told = run.words.ofModel(error, attempt.index)
  run.hooks.modelReplaced({ step: attempt.index, model, by, ...told })
  const push = (event: TurnEventBody): void =>
    run.ledger.push({ ...event, turnId: run.turnId, at: run.clock.now() })
  const { steps } = run.ledger.expected
  const step = steps.at(-1)
  if (step?.status === 'open' && isUntouched(step, attempt.resumes)) {
    push({ type: 'model-replaced', model, by, error: told })
    return { ...attempt, isBegun: true }
  }
  // What was called in an attempt that is given up must not run, whether it was whole or not.
  for (const part of step?.parts ?? []) {
    if (part.type !== 'call' || !isOpenCall(part)) continue
    const outcome = { state: 'interrupted', cause: 'stream-failed' } as const
    push({ type: 'call-settled', callId: part.id, outcome })
  }
  push({ type: 'step-abandoned', error: told })
  return { index: steps.length, isBegun: false }
}

/** Nothing was added to it in this attempt. */
const isUntouched = (step: Step, before: Step | undefined): boolean =>
  step.parts.length === (before?.parts.length ?? 0) &&
  (before === undefined || shownTextOf(step) === shownTextOf(before))
