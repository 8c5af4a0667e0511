import type { StepResult, ToolSet } from 'ai'
import type { Turn } from '../core/message.ts'
import { toStepResults } from './step-results.ts'

export type LifecycleCallback<Event> = (event: Event) => PromiseLike<void> | void

/** The last step, and all of them. */
export type FinishEvent = StepResult<ToolSet> & { readonly steps: StepResult<ToolSet>[] }

/**
 * As in `streamText`, for whoever asks the model in this process: a step that another process made is not told here. What they throw
 * is not heard. `hooks` tell more, and of every turn.
 */
export interface LifecycleCallbacks {
  /** A step has ended, and so have its calls, unless they wait for a person. @default none */
  readonly onStepEnd?: LifecycleCallback<StepResult<ToolSet>>
  /** The older name of `onStepEnd`. @default none */
  readonly onStepFinish?: LifecycleCallback<StepResult<ToolSet>>
  /** The turn has ended by itself. @default none */
  readonly onEnd?: LifecycleCallback<FinishEvent>
  /** The older name of `onEnd`. @default none */
  readonly onFinish?: LifecycleCallback<FinishEvent>
  /** The turn has failed. @default none */
  readonly onError?: LifecycleCallback<{ readonly error: unknown }>
  /** Somebody has stopped the turn. @default none */
  readonly onAbort?: LifecycleCallback<{ readonly steps: StepResult<ToolSet>[] }>
}

export const callbackNames = [
  'onStepEnd',
  'onStepFinish',
  'onEnd',
  'onFinish',
  'onError',
  'onAbort',
] as const satisfies readonly (keyof LifecycleCallbacks)[]

/** Calls them in their order, each once for what it is about. */
export interface LifecycleNotifier {
  /** Steps that have ended since. */
  steps(turn: Turn): Promise<void>
  ended(turn: Turn): Promise<void>
  failed(error: unknown): Promise<void>
  stopped(turn: Turn): Promise<void>
}

export function createLifecycleNotifier(
  callbacks: LifecycleCallbacks,
  before: Turn,
): LifecycleNotifier {
  const hasStepCallbacks = callbacks.onStepEnd !== undefined || callbacks.onStepFinish !== undefined
  let notified = hasStepCallbacks ? toStepResults(before).length : 0
  return {
    async steps(turn) {
      if (!hasStepCallbacks) return
      const steps = toStepResults(turn)
      for (const step of steps.slice(notified)) {
        await call(callbacks.onStepEnd, step)
        await call(callbacks.onStepFinish, step)
      }
      notified = steps.length
    },
    async ended(turn) {
      if (callbacks.onEnd === undefined && callbacks.onFinish === undefined) return
      const steps = toStepResults(turn)
      const last = steps.at(-1)
      if (last === undefined) return
      const event: FinishEvent = { ...last, steps }
      await call(callbacks.onEnd, event)
      await call(callbacks.onFinish, event)
    },
    failed: (error) => call(callbacks.onError, { error }),
    async stopped(turn) {
      if (callbacks.onAbort !== undefined) {
        await call(callbacks.onAbort, { steps: toStepResults(turn) })
      }
    },
  }
}

async function call<Event>(
  callback: LifecycleCallback<Event> | undefined,
  event: Event,
): Promise<void> {
  try {
    await callback?.(event)
  } catch {
    // What watches a turn must not end it.
  }
}
