import type { Instructions, LanguageModel, TelemetryOptions, ToolSet } from 'ai'
import { toReadableThrown } from '../../core/error-text.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Agent, AgentOption, ModelTimeout, TurnScope } from './agent.ts'
import type { CallSettings } from '../model/call-model.ts'
import type { Clock } from '../clock.ts'
import { callbackNames, type LifecycleCallbacks } from '../telemetry/lifecycle-callbacks.ts'
import { checkAgent, settingRules } from '../options/option-rules.ts'
import type { AnswerOutput, RepairToolCall } from '../model/sdk-layer.ts'
import type { PrepareStep, StopWhen } from '../run/step-results.ts'
import type { HoldfastOptions } from '../options/options.ts'
import { type OfferedModel, type Offer, pickedModel } from './offered-models.ts'
import { createToolbox, type Toolbox } from './tool-policy.ts'

/** An agent as the engine uses it: checked, and with everything that is derived from it once. */
export interface TurnAgent {
  /** In the order in which they are tried. Empty: every answer is recorded from the host application's own loop. */
  readonly models: readonly LanguageModel[]
  readonly timeout: ModelTimeout
  readonly step: StepOptions
  readonly callbacks: LifecycleCallbacks
  /** Undefined: the engine's option applies. */
  readonly maxRetries: number | undefined
  readonly instructions: Instructions | undefined
  readonly settings: CallSettings
  readonly context: unknown
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly telemetry: TelemetryOptions | undefined
  readonly toolbox: Toolbox
  /** The same agent with other contexts. */
  readonly withContexts: (
    context: unknown,
    toolsContext: Readonly<Record<string, unknown>>,
  ) => TurnAgent
}

/** Options of every step. */
export interface StepOptions {
  readonly stopWhen?: StopWhen
  readonly prepareStep?: PrepareStep
  readonly activeTools?: readonly string[]
  readonly toolOrder?: readonly string[]
  readonly repairToolCall?: RepairToolCall
  readonly output?: AnswerOutput
}

export interface AgentSource {
  /** The agent of every turn, where it is an object; undefined where it has to be resolved for each turn. */
  readonly fixed: TurnAgent | undefined
  /**
   * Whether the model of a turn is the one that was picked for it, of those that the host application offers: then it
   * has to be resolved.
   */
  readonly isPicked: boolean
  /** Whether this process has a model at all. */
  readonly canAnswer: boolean
  /** Rejects with an `AgentFault`, or with the reason of `signal` if that is aborted. */
  readonly resolve: (scope: TurnScope, signal?: AbortSignal) => TurnAgent | Promise<TurnAgent>
}

/**
 * The host application's `agent` function threw, took too long, or returned something that is no agent (AG1). `cause`:
 * why.
 */
export class AgentFault extends Error {
  override readonly name = 'AgentFault'

  constructor(cause: unknown) {
    super('The agent of this turn could not be created.', { cause })
  }
}

/** `options` have been checked. Those at the top level are shorthand for an agent that is an object. */
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
        new Error('An offered model has no "model", and the agent has none either.'),
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
    // A run may be stopped before it has done anything.
    signal?.throwIfAborted()
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

/** A model that is no longer offered counts as none: the first one answers. */
const pickOf = (
  offered: readonly OfferedModel[],
  id: string | undefined,
): Pick<OfferedModel, 'model'> => offered.find((model) => model.id === id) ?? offered[0] ?? {}

const settingNames = Object.keys(settingRules) as readonly (keyof CallSettings)[]

/** `Array.isArray` does not narrow readonly arrays. */
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
      // The types separate the tools by context; the engine does not, because it passes each tool the context that it
      // declares.
      tools: tools as ToolSet,
      policies,
      toolApproval,
      context,
      toolsContext,
    }),
  }
}
