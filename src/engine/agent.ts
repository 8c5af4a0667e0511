import type {
  FlexibleSchema,
  Instructions,
  LanguageModel,
  TelemetryOptions,
  Tool,
  ToolSet,
} from 'ai'
import type { CallScope, TurnPlace } from './call-scope.ts'
import type { CallSettings } from './call-model.ts'
import type { LifecycleCallbacks } from './lifecycle-callbacks.ts'
import type { AnswerOutput, RepairToolCall } from './sdk-layer.ts'
import type { PrepareStep, StopWhen } from './step-results.ts'
import type { ToolApproval, ToolPolicy } from './tool-policy.ts'

/** What an agent is asked for: whose turn it is, what was chosen for it, and why it is asked now. */
export interface TurnScope<Choices = unknown> extends TurnPlace {
  /** As the schema of `choices` made them, stored with the turn; of a turn that has none, the schema's defaults. */
  readonly choices: Choices
  /**
   * `begin`: a message is answered, an answer is made anew or continued. `resume`: what the turn waited for has come.
   * `takeover`: the process that ran it is gone.
   */
  readonly reason: AgentReason
}

/** In milliseconds. */
export interface ModelTimeout {
  readonly firstChunkMs?: number
  readonly chunkMs?: number
}

export type AgentReason = 'begin' | 'resume' | 'takeover'

/** What the SDK itself says of values that it does not know: whoever names no context or choices gets these. */
export type Unchecked = ToolSet[string] extends {
  execute?: (input: infer Input, ...rest: never) => unknown
}
  ? Input
  : never

/**
 * With what a turn is answered. Its call settings (`temperature`, `providerOptions` …) have the names and the meaning
 * that `streamText` gives them.
 */
export interface Agent<Context = Unchecked>
  extends CallSettings, LifecycleCallbacks<NoInfer<Context>> {
  /**
   * Who answers. Of a list, the next is tried where one cannot be reached, refuses or breaks off (AG5): silently before it
   * has said anything, and otherwise as a new attempt of the step. For the rest of the run the one that answered is asked.
   */
  readonly model: LanguageModel | readonly LanguageModel[]
  /**
   * How long a model may say nothing: before its answer (`firstChunkMs`) and in it (`chunkMs`), as in `streamText`. One that
   * takes longer has failed; it is tried again, and then the next of the list. @default no limit
   */
  readonly timeout?: ModelTimeout
  /**
   * Conditions after which no further step is made, as in `streamText`: `isStepCount(20)`, `hasToolCall('done')`. Asked when the
   * calls of a step have ended; the turn then ends at its step limit, and can be continued. `maxSteps` holds as well.
   * @default none
   */
  readonly stopWhen?: StopWhen
  /**
   * As in `streamText`: called before each step, with the steps so far. Its model, tools and settings hold for that step alone; its
   * `instructions`, `messages`, `toolsContext` and `runtimeContext` for those that follow too, as long as the run is here:
   * one that is resumed or taken over begins with the agent's own. @default none
   */
  readonly prepareStep?: PrepareStep<NoInfer<Context>>
  /** The tools that the model is offered, by name. Calls of others that are there already may still run. @default all */
  readonly activeTools?: readonly string[]
  /** The order in which tools are sent; those it does not name follow. @default as they are given */
  readonly toolOrder?: readonly string[]
  /** Mends a call whose tool is not there or whose arguments do not fit, before it is stored. @default none: it fails */
  readonly repairToolCall?: RepairToolCall
  /** The older name of `repairToolCall`. @default none */
  readonly experimental_repairToolCall?: RepairToolCall
  /** In which form the model is asked to answer: `Output.object({ schema })`. The answer is stored as the text it is. @default text */
  readonly output?: AnswerOutput
  /**
   * As in `streamText`: `integrations`, or else those of `registerTelemetry`, are told of each run as of one call, with its steps and
   * tools; `isEnabled: false` tells them nothing. `traceHooks` gives one trace for a whole turn. @default what is registered is told
   */
  readonly telemetry?: TelemetryOptions
  /** How often a model is tried again, before its first word only. @default 2 */
  readonly maxRetries?: number
  /** What the model is told before everything else. @default none */
  readonly instructions?: Instructions
  /**
   * What is handed to the tools, approval functions and hooks of the turn; never stored, and never sent to the model.
   * @default undefined
   */
  readonly context?: Context
  /** AI SDK tools by name: only these are offered to the model, and only these run (AG6). @default none */
  readonly tools?: AgentTools<NoInfer<Context>>
  /**
   * As in the AI SDK: what one tool alone gets as its `context`, by the tool's name. Checked with the tool's `contextSchema`
   * before the tool or its approval function is called; what does not fit fails the call, and nothing runs.
   * @default none: a tool gets the agent's `context`
   */
  readonly toolsContext?: Readonly<Record<string, unknown>>
  /** What the engine must know of a tool beyond its definition: approval, repeatable, time limit. @default none */
  readonly policies?: Readonly<Record<string, ToolPolicy<NoInfer<Context>>>>
  /** As in `streamText`. A policy of ours, where there is one, comes first. @default none */
  readonly toolApproval?: ToolApproval<NoInfer<Context>>
}

/**
 * The agent of every turn, or a function that gives the agent of one. It is called when a run begins and again whenever a
 * run is resumed or taken over, on whatever server: what it returns must depend on the scope and on data of the host's
 * that every server reads, and on nothing else.
 */
export type AgentOption<Context = Unchecked, Choices = Unchecked> =
  | Agent<Context>
  | ((scope: TurnScope<Choices>) => Agent<Context> | PromiseLike<Agent<Context>>)

declare const contextType: unique symbol

export type Executed<Output> = AsyncIterable<Output> | PromiseLike<Output> | Output

/** A tool as the AI SDK's `tool()` makes it, except that it is told for whom it runs. */
export type AgentTool<Input, Output, Context> = Omit<
  Tool<Input, Output, Unchecked>,
  'inputSchema' | 'outputSchema' | 'contextSchema' | 'execute' | 'needsApproval' | 'description'
> & {
  readonly description?: string | ((options: { readonly context: Context }) => string)
  readonly inputSchema: FlexibleSchema<Input>
  readonly outputSchema?: FlexibleSchema<Output>
  readonly execute?: (input: Input, scope: CallScope<Context>) => Executed<Output>
  readonly needsApproval?:
    | boolean
    | ((input: Input, scope: CallScope<Context>) => boolean | PromiseLike<boolean>)
  /** Never there. A tool for one context must not pass for one of another. */
  readonly [contextType]?: (context: Context) => void
}

/** One of the SDK's own: its `contextSchema` says what context it takes, and that is checked before it runs. */
export type SdkTool = Omit<ToolSet[string], 'execute' | 'needsApproval'> & {
  // Without a signature, so that a tool that is written in place is typed as an `AgentTool`.
  readonly execute?: object
  readonly needsApproval?: boolean | object
  readonly [contextType]?: never
}

export type AgentTools<Context> = Readonly<
  Record<string, AgentTool<Unchecked, Unchecked, Context> | SdkTool>
>

/**
 * A tool with the types of its arguments and of the context. Where it is written apart from its agent, the context is
 * named in the parameter: `execute: (input, { context, ownerId }: CallScope<MyContext>) => …`.
 */
export const defineTool = <Input, Output, Context>(
  tool: AgentTool<Input, Output, Context>,
): AgentTool<Input, Output, Context> => tool

/** An agent with the type of its context known in the tools that are written in it: what a function agent returns. */
export const defineAgent = <Context>(agent: Agent<Context>): Agent<Context> => agent
