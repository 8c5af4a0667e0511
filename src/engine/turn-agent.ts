import type { Instructions, LanguageModel, TelemetryOptions, ToolSet } from 'ai'
import { toReadableThrown } from '../core/error-text.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Agent, AgentOption, ModelTimeout, TurnScope } from './agent.ts'
import type { CallSettings } from './call-model.ts'
import type { Clock } from './clock.ts'
import { callbackNames, type LifecycleCallbacks } from './lifecycle-callbacks.ts'
import { checkAgent, settingRules } from './option-rules.ts'
import type { AnswerOutput, RepairToolCall } from './sdk-layer.ts'
import type { PrepareStep, StopWhen } from './step-results.ts'
import type { HoldfastOptions } from './options.ts'
import { type OfferedModel, type Offer, pickedModel } from './offered-models.ts'
import { createToolbox, type Toolbox } from './tool-policy.ts'

/** An agent as the engine works with it: checked, and with what is made of it once. */
export interface TurnAgent {
  /** In the order in which they are tried. None: every answer is recorded from a loop of the host's own. */
  readonly models: readonly LanguageModel[]
  readonly timeout: ModelTimeout
  readonly step: StepOptions
  readonly callbacks: LifecycleCallbacks
  /** Undefined: as the engine's options say. */
  readonly maxRetries: number | undefined
  readonly instructions: Instructions | undefined
  readonly settings: CallSettings
  readonly context: unknown
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly telemetry: TelemetryOptions | undefined
  readonly toolbox: Toolbox
  /** The same with other contexts. */
  readonly withContexts: (
    context: unknown,
    toolsContext: Readonly<Record<string, unknown>>,
  ) => TurnAgent
}

/** How each step is made. */
export interface StepOptions {
  readonly stopWhen?: StopWhen
  readonly prepareStep?: PrepareStep
  readonly activeTools?: readonly string[]
  readonly toolOrder?: readonly string[]
  readonly repairToolCall?: RepairToolCall
  readonly output?: AnswerOutput
}

export interface AgentSource {
  /** The agent of every turn, where it is an object; undefined where a turn's agent has to be asked for. */
  readonly fixed: TurnAgent | undefined
  /** The model of a turn is the one that was picked for it, of those that the host offers: it has to be asked for. */
  readonly isPicked: boolean
  /** Whether there can be anybody who answers. */
  readonly canAnswer: boolean
  /** Rejects with an `AgentFault`, or as `signal` says if that is aborted. */
  readonly resolve: (scope: TurnScope, signal?: AbortSignal) => TurnAgent | Promise<TurnAgent>
}

/** The host's `agent` threw, took too long, or gave something that is none (AG1). `cause`: why. */
export class AgentFault extends Error {
  override readonly name = 'AgentFault'

  constructor(cause: unknown) {
    super('The agent of this turn could not be had.', { cause })
  }
}

/** Options that have been checked. Those at the top are short for an agent that is an object. */
export function createAgentSource(
  options: HoldfastOptions,
  clock: Clock,
  timeoutMs: number,
  offer: Pick<Offer, 'modelsOf'>,
): AgentSource {
  const agent: AgentOption | undefined = options.agent
  if (typeof agent !== 'function') {
    const fixed = toTurnAgent(agent ?? withDefined({ ...options.settings }, options))
    const isPicked =
      typeof options.models === 'function' ||
      (options.models ?? []).some(({ model }) => model !== undefined)
    const resolve = async ({ ownerId, choices }: TurnScope): Promise<TurnAgent> => {
      const offered = await offer.modelsOf(ownerId).catch((error: unknown) => {
        throw new AgentFault(error instanceof HoldfastError ? error.cause : error)
      })
      const { model } = pickOf(offered, pickedModel(choices))
      if (model !== undefined) return { ...fixed, models: toList(model) }
      if (fixed.models.length > 0) return fixed
      throw new AgentFault(
        new Error('A model that is offered has no "model", and the agent has none.'),
      )
    }
    return {
      fixed,
      isPicked,
      canAnswer: isPicked || fixed.models.length > 0,
      resolve: isPicked ? resolve : () => fixed,
    }
  }
  const resolve = async (scope: TurnScope, signal?: AbortSignal): Promise<TurnAgent> => {
    const over = Promise.withResolvers<never>()
    const cancel = clock.after(timeoutMs, () =>
      over.reject(new Error(`The agent took longer than ${timeoutMs} ms.`)),
    )
    const onAbort = () => over.reject(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      const given: unknown = await Promise.race([agent(scope), over.promise])
      checkAgent('agent', given)
      return toTurnAgent(given as Agent)
    } catch (thrown) {
      if (signal?.aborted === true) throw thrown
      throw new AgentFault(toReadableThrown(thrown))
    } finally {
      cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }
  return { fixed: undefined, isPicked: false, canAnswer: true, resolve }
}

/** One that is no longer offered is as good as none: the first answers. */
const pickOf = (
  offered: readonly OfferedModel[],
  id: string | undefined,
): Pick<OfferedModel, 'model'> => offered.find((model) => model.id === id) ?? offered[0] ?? {}

const settingNames = Object.keys(settingRules) as readonly (keyof CallSettings)[]

/** `Array.isArray` does not know lists that may only be read. */
const isList = (
  model: LanguageModel | readonly LanguageModel[],
): model is readonly LanguageModel[] => Array.isArray(model)

const toList = (model: LanguageModel | readonly LanguageModel[]): readonly LanguageModel[] =>
  isList(model) ? model : [model]

function toTurnAgent(agent: Partial<Agent>): TurnAgent {
  const { model = [], instructions, timeout = {}, tools = {}, policies = {}, toolApproval } = agent
  const context: unknown = agent.context
  const toolsContext = agent.toolsContext ?? {}
  const settings = Object.fromEntries(settingNames.map((name) => [name, agent[name]]))
  return {
    models: toList(model),
    timeout,
    maxRetries: agent.maxRetries,
    callbacks: withDefined(
      {},
      Object.fromEntries(callbackNames.map((name) => [name, agent[name]])),
    ),
    step: withDefined(
      {},
      {
        stopWhen: agent.stopWhen,
        prepareStep: agent.prepareStep,
        activeTools: agent.activeTools,
        toolOrder: agent.toolOrder,
        repairToolCall: agent.repairToolCall ?? agent.experimental_repairToolCall,
        output: agent.output,
      },
    ),
    instructions,
    settings: withDefined({}, settings),
    context,
    toolsContext,
    telemetry: agent.telemetry,
    withContexts: (other, ofTools) =>
      toTurnAgent({ ...agent, context: other as never, toolsContext: ofTools }),
    toolbox: createToolbox({
      // What the types keep apart is one thing to the engine: it hands each tool what it says it takes.
      tools: tools as ToolSet,
      policies,
      toolApproval,
      context,
      toolsContext,
    }),
  }
}
