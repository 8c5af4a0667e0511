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

/** What `streamText` tells its callbacks and the SDK's telemetry integrations, by the name under which it tells it. */
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

export type LifecycleCallback<Event> = (event: Event) => PromiseLike<void> | void

/** The last step, all of them, and what they come to together. */
export type FinishEvent = GenerateTextEndEvent<ToolSet>

/** With the agent's `context`, by the SDK's name. */
export type WithContext<Event, Context> = Event & { readonly runtimeContext: Context }

/**
 * As in `streamText`, for whoever asks the model in this process: what another process did is not told here. What they throw
 * is not heard. `hooks` tell of every turn, whichever process has it.
 */
export interface LifecycleCallbacks<Context = unknown> {
  /** A run begins here: of a message, or of a turn that is resumed or taken over. @default none */
  readonly onStart?: LifecycleCallback<WithContext<GenerateTextStartEvent, Context>>
  /** A model is about to be asked for a step; again where another model of the list is. @default none */
  readonly onStepStart?: LifecycleCallback<WithContext<GenerateTextStepStartEvent, Context>>
  /** A model has failed in a step. Another of the list may follow, or the end of the turn. @default none */
  readonly onStepError?: LifecycleCallback<WithContext<GenerateTextStepErrorEvent, Context>>
  /** A provider is asked: each time that it is tried. @default none */
  readonly onLanguageModelCallStart?: LifecycleCallback<LanguageModelCallStartEvent>
  /** It has said its last word. @default none */
  readonly onLanguageModelCallEnd?: LifecycleCallback<LanguageModelCallEndEvent>
  /** A tool is about to run. @default none */
  readonly onToolExecutionStart?: LifecycleCallback<ToolExecutionStartEvent>
  /** It has run: `toolOutput` is what came of it. @default none */
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
  /** Somebody has stopped the turn. @default none */
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

/** Told what happens in a run, each when the one before has been heard. */
export interface LifecycleListener {
  /** A run that only pauses, or goes on elsewhere, is over for it too: nothing may stay open. */
  readonly isPerRun: boolean
  readonly notify: <Name extends keyof LifecycleEvents>(
    name: Name,
    event: LifecycleEvents[Name],
  ) => Promise<void>
  /** Does the work of a model call, or of a tool, as a part of whatever it keeps of it. */
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
export function listenerOf(callbacks: LifecycleCallbacks): LifecycleListener | undefined {
  if (Object.keys(callbacks).length === 0) return undefined
  return {
    isPerRun: false,
    async notify(name, event) {
      const older = olderNames[name]
      await heard(callbacks[name] as LifecycleCallback<unknown> | undefined, event)
      if (older === undefined) return
      await heard(callbacks[older] as LifecycleCallback<unknown> | undefined, event)
    },
  }
}

/** What watches a turn must not end it. */
export async function heard<Event>(
  callback: LifecycleCallback<Event> | undefined,
  event: Event,
): Promise<void> {
  try {
    await callback?.(event)
  } catch {
    // As in the SDK.
  }
}
