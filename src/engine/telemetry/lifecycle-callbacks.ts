import type {
  GenerateTextAbortEvent,
  GenerateTextEndEvent,
  GenerateTextStartEvent,
  GenerateTextStepErrorEvent,
  GenerateTextStepStartEvent,
  LanguageModelCallEndEvent,
  LanguageModelCallStartEvent,
  StepResult,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolSet,
} from 'ai'
import type { ReportFault } from '../run/failure-texts.ts'

/** The events that `streamText` passes to its callbacks and to the SDK's telemetry integrations, by callback name. */
export interface LifecycleEvents {
  readonly onStart: GenerateTextStartEvent
  readonly onStepStart: GenerateTextStepStartEvent
  readonly onStepError: GenerateTextStepErrorEvent
  readonly onLanguageModelCallStart: LanguageModelCallStartEvent
  readonly onLanguageModelCallEnd: LanguageModelCallEndEvent
  readonly onToolExecutionStart: ToolExecutionStartEvent
  readonly onToolExecutionEnd: ToolExecutionEndEvent
  readonly onStepEnd: StepResult<ToolSet>
  readonly onEnd: GenerateTextEndEvent<ToolSet>
  readonly onAbort: GenerateTextAbortEvent<ToolSet>
  readonly onError: { readonly callId: string; readonly error: unknown }
}

/** Called with an event, and awaited. What it throws changes nothing. */
export type LifecycleCallback<Event> = (event: Event) => PromiseLike<void> | void

/** The last step, all steps, and their totals. */
export type FinishEvent = GenerateTextEndEvent<ToolSet>

/** With the agent's `context`, under the SDK's name. */
export type WithContext<Event, Context> = Event & { readonly runtimeContext: Context }

/**
 * As in `streamText`, for the process that calls the model: the work of another process is not reported here. What they
 * throw changes nothing, and is a `failed` event of `hooks`, which receive every turn of this process.
 */
export interface LifecycleCallbacks<Context = unknown> {
  /** A run begins here: of a message, or of a turn that is resumed or taken over. @default none */
  readonly onStart?: LifecycleCallback<WithContext<GenerateTextStartEvent, Context>>
  /** A model is about to be called for a step; again where another model of the list is tried. @default none */
  readonly onStepStart?: LifecycleCallback<WithContext<GenerateTextStepStartEvent, Context>>
  /** A model has failed in a step. Another of the list may follow, or the end of the turn. @default none */
  readonly onStepError?: LifecycleCallback<WithContext<GenerateTextStepErrorEvent, Context>>
  /** The provider is called: once for each attempt. @default none */
  readonly onLanguageModelCallStart?: LifecycleCallback<LanguageModelCallStartEvent>
  /** The model call has ended. @default none */
  readonly onLanguageModelCallEnd?: LifecycleCallback<LanguageModelCallEndEvent>
  /** A tool is about to run. @default none */
  readonly onToolExecutionStart?: LifecycleCallback<ToolExecutionStartEvent>
  /** The tool has run: `toolOutput` is its result. @default none */
  readonly onToolExecutionEnd?: LifecycleCallback<ToolExecutionEndEvent>
  /** A step has ended, and so have its calls, unless they wait for a person. @default none */
  readonly onStepEnd?: LifecycleCallback<WithContext<StepResult<ToolSet>, Context>>
  /** The older name of `onStepEnd`. @default none */
  readonly onStepFinish?: LifecycleCallback<WithContext<StepResult<ToolSet>, Context>>
  /** The turn has ended by itself. @default none */
  readonly onEnd?: LifecycleCallback<WithContext<FinishEvent, Context>>
  /** The older name of `onEnd`. @default none */
  readonly onFinish?: LifecycleCallback<WithContext<FinishEvent, Context>>
  /** The turn has failed. @default none */
  readonly onError?: LifecycleCallback<{ readonly error: unknown }>
  /** The turn was stopped. @default none */
  readonly onAbort?: LifecycleCallback<GenerateTextAbortEvent<ToolSet>>
}

export const callbackNames = [
  'onStart',
  'onStepStart',
  'onStepError',
  'onLanguageModelCallStart',
  'onLanguageModelCallEnd',
  'onToolExecutionStart',
  'onToolExecutionEnd',
  'onStepEnd',
  'onStepFinish',
  'onEnd',
  'onFinish',
  'onError',
  'onAbort',
] as const satisfies readonly (keyof LifecycleCallbacks)[]

/** A listener of one run; each event is delivered after the previous one has been handled. */
export interface LifecycleListener {
  /**
   * Whether each run is reported as ended when it only pauses, or continues in another process: nothing may stay open.
   */
  readonly isPerRun: boolean
  readonly notify: <Name extends keyof LifecycleEvents>(
    name: Name,
    event: LifecycleEvents[Name],
  ) => Promise<void>
  /** Wraps a model call, or the execution of a tool, for instance in a span. */
  readonly inModelCall?: <Result>(
    call: LanguageModelCallStartEvent,
    work: () => PromiseLike<Result>,
  ) => PromiseLike<Result>
  readonly inTool?: <Result>(
    call: ToolExecutionStartEvent,
    work: () => PromiseLike<Result>,
  ) => PromiseLike<Result>
}

const olderNames: Partial<Record<keyof LifecycleEvents, keyof LifecycleCallbacks>> = {
  onStepEnd: 'onStepFinish',
  onEnd: 'onFinish',
}

/** The agent's own callbacks, or undefined where it has none. */
export function listenerOf(
  callbacks: LifecycleCallbacks,
  onFault: ReportFault,
): LifecycleListener | undefined {
  if (Object.keys(callbacks).length === 0) return undefined
  return {
    isPerRun: false,
    async notify(name, event) {
      const call = async (each: keyof LifecycleCallbacks) =>
        callSafely(callbacks[each] as LifecycleCallback<unknown> | undefined, event, (thrown) =>
          onFault(each, thrown),
        )
      const older = olderNames[name]
      await call(name)
      if (older !== undefined) await call(older)
    },
  }
}

/** Calls a callback, and only reports what it throws: an observer must not end a turn. */
export async function callSafely<Event>(
  callback: LifecycleCallback<Event> | undefined,
  event: Event,
  onFault: (thrown: unknown) => void,
): Promise<void> {
  try {
    await callback?.(event)
  } catch (thrown) {
    onFault(thrown)
  }
}
