import type {
  FlexibleSchema,
  Instructions,
  LanguageModel,
  TelemetryOptions,
  Tool,
  ToolSet,
} from 'ai'
import type { CallScope, TurnPlace } from '../call-scope.ts'
import type { CallSettings } from '../model/call-model.ts'
import type { LifecycleCallbacks } from '../telemetry/lifecycle-callbacks.ts'
import type { AnswerOutput, RepairToolCall } from '../model/sdk-layer.ts'
import type { PrepareStep, StopWhen } from '../run/step-results.ts'
import type { ToolApproval, ToolPolicy } from './tool-policy.ts'

/** What the agent function receives: whose turn it is, what was chosen for it, and why it is called now. */
export interface TurnScope<Choices = unknown> extends TurnPlace {
  /**
   * As the schema of `choices` returned them, stored with the turn; for a turn without choices, the schema's defaults.
   */
  readonly choices: Choices
  /**
   * `begin`: a message is answered, or an answer is regenerated or continued. `resume`: what the turn waited for has
   * arrived. `takeover`: the process that ran it is gone.
   */
  readonly reason: AgentReason
}

/** How long a model may send nothing, in milliseconds; after that the model call has failed. */
export interface ModelTimeout {
  /** Until the first part of its stream. @default no limit */
  readonly firstChunkMs?: number
  /** Between two parts. @default no limit */
  readonly chunkMs?: number
}

/** Why an agent is resolved: see `TurnScope.reason`. */
export type AgentReason = 'begin' | 'resume' | 'takeover'

/** The SDK's own type for values that it does not check: the default where no context or choices type is named. */
export type Unchecked = ToolSet[string] extends {
  execute?: (input: infer Input, ...rest: never) => unknown
}
  ? Input
  : never

/**
 * Everything a turn is answered with. Its call settings (`temperature`, `providerOptions` …) have the names and the
 * meaning that `streamText` gives them.
 */
export interface Agent<Context = Unchecked>
  extends CallSettings, LifecycleCallbacks<NoInfer<Context>> {
  /**
   * The model that answers. Of a list, the next one is tried where one cannot be reached, refuses or breaks off (AG5):
   * silently before any output, and otherwise as a new attempt of the step. The model that answered is used for the
   * rest of the run. A name (`'openai/gpt-5'`) is resolved by the AI SDK: without a provider registry it is Vercel's AI
   * Gateway, which needs `AI_GATEWAY_API_KEY`.
   */
  readonly model: LanguageModel | readonly LanguageModel[]
  /**
   * How long a model may send nothing: before its answer (`firstChunkMs`) and during it (`chunkMs`), as in
   * `streamText`. A model that takes longer has failed; it is retried, and then the next of the list is tried.
   * @default no limit
   */
  readonly timeout?: ModelTimeout
  /**
   * Conditions after which no further step is made, as in `streamText`: `isStepCount(20)`, `hasToolCall('done')`.
   * Evaluated when the calls of a step have ended; the turn then ends at its step limit, and can be continued.
   * `maxSteps` applies as well.
   * @default none
   */
  readonly stopWhen?: StopWhen
  /**
   * As in `streamText`: called before each step, with the steps so far. Its model, tools and settings apply to that
   * step alone; its `instructions`, `messages`, `toolsContext` and `runtimeContext` to the following steps too, as long
   * as the run stays in this process: a run that is resumed or taken over begins with the agent's own.
   * @default none
   */
  readonly prepareStep?: PrepareStep<NoInfer<Context>>
  /** The tools that the model is offered, by name. Existing calls of other tools may still run. @default all */
  readonly activeTools?: readonly string[]
  /** The order in which tools are sent; tools that it does not name follow. @default as they are given */
  readonly toolOrder?: readonly string[]
  /**
   * Repairs a call whose tool does not exist or whose arguments do not fit, before it is stored.
   * @default none: it fails
   */
  readonly repairToolCall?: RepairToolCall
  /** The older name of `repairToolCall`. @default none */
  readonly experimental_repairToolCall?: RepairToolCall
  /**
   * The format in which the model is asked to answer: `Output.object({ schema })`. The answer is stored as plain text.
   * @default text
   */
  readonly output?: AnswerOutput
  /**
   * As in `streamText`: `integrations`, or else those of `registerTelemetry`, receive each run as one call, with its
   * steps and tools; with `isEnabled: false` they receive nothing. `traceHooks` makes one trace of a whole turn.
   * @default the registered integrations are called
   */
  readonly telemetry?: TelemetryOptions
  /** How often a model is retried, before its first output only. @default 2 */
  readonly maxRetries?: number
  /** The system instructions for the model. @default none */
  readonly instructions?: Instructions
  /**
   * Passed to the tools, approval functions and hooks of the turn; never stored, and never sent to the model.
   * @default undefined
   */
  readonly context?: Context
  /** AI SDK tools by name: only these are offered to the model, and only these run (AG6). @default none */
  readonly tools?: AgentTools<NoInfer<Context>>
  /**
   * As in the AI SDK: the `context` of a single tool, by the tool's name. Checked against the tool's `contextSchema`
   * before the tool or its approval function is called; if it does not fit, the call fails and nothing runs.
   * @default none: a tool gets the agent's `context`
   */
  readonly toolsContext?: Readonly<Record<string, unknown>>
  /**
   * What the engine needs to know about a tool beyond its definition: approval, repeatable, time limit.
   * @default none
   */
  readonly policies?: Readonly<Record<string, ToolPolicy<NoInfer<Context>>>>
  /** As in `streamText`. An entry in `policies` takes precedence. @default none */
  readonly toolApproval?: ToolApproval<NoInfer<Context>>
}

/**
 * The agent of every turn, or a function that returns the agent of one turn. The function is called when a run begins
 * and again whenever a run is resumed or taken over, on any server: its result must depend on the scope and on data
 * that every server of the host application reads, and on nothing else.
 */
export type AgentOption<Context = Unchecked, Choices = Unchecked> =
  | Agent<Context>
  | ((scope: TurnScope<Choices>) => Agent<Context> | PromiseLike<Agent<Context>>)

declare const contextType: unique symbol

/** What `execute` of a tool may return: a value, a promise, or an async iterable whose last value is the result. */
export type Executed<Output> = AsyncIterable<Output> | PromiseLike<Output> | Output

/** A tool as the AI SDK's `tool()` makes it, except that it receives the scope it runs for. */
export type AgentTool<Input, Output, Context> = Omit<
  Tool<Input, Output, Unchecked>,
  'inputSchema' | 'outputSchema' | 'contextSchema' | 'execute' | 'needsApproval' | 'description'
> & {
  /** For the model: what the tool does. @default none */
  readonly description?: string | ((options: { readonly context: Context }) => string)
  /** The arguments. A call that does not fit it does not run. */
  readonly inputSchema: FlexibleSchema<Input>
  /** The result. Results that a client or a person sends have to fit it. @default any JSON */
  readonly outputSchema?: FlexibleSchema<Output>
  /** @default the client runs the tool, and sends its result (`addToolOutputs`) */
  readonly execute?: (input: Input, scope: CallScope<Context>) => Executed<Output>
  /** Whether a call waits for a person. A policy of the tool takes precedence. @default false */
  readonly needsApproval?:
    | boolean
    | ((input: Input, scope: CallScope<Context>) => boolean | PromiseLike<boolean>)
  /** Never set. Keeps a tool for one context from being assignable to another. */
  readonly [contextType]?: (context: Context) => void
}

/** A tool of the SDK's own type: its `contextSchema` defines its context, which is checked before the tool runs. */
export type SdkTool = Omit<ToolSet[string], 'execute' | 'needsApproval'> & {
  // Without a signature, so that a tool that is written inline is typed as an `AgentTool`.
  readonly execute?: object
  readonly needsApproval?: boolean | object
  readonly [contextType]?: never
}

/** The tools of an agent, by name. */
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

/**
 * Returns the agent unchanged, with the type of its context known in the tools written in it: for a function agent's
 * result.
 */
export const defineAgent = <Context>(agent: Agent<Context>): Agent<Context> => agent
