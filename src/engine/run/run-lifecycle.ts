import {
  asSchema,
  type GenerateTextStepStartEvent,
  type LanguageModelCallStartEvent,
  type ModelMessage,
  type StepResult,
  type ToolExecutionEndEvent,
  type ToolExecutionStartEvent,
  type ToolSet,
} from 'ai'
import type { Call, CallOutcome } from '../../core/call.ts'
import type { Turn } from '../../core/message.ts'
import { addUsage } from '../../core/usage.ts'
import type { ModelCall } from '../model/call-model.ts'
import type { Clock } from '../clock.ts'
import type { AskedModel } from '../telemetry/hooks.ts'
import {
  type FinishEvent,
  type LifecycleEvents,
  type LifecycleListener,
  listenerOf,
} from '../telemetry/lifecycle-callbacks.ts'
import type { ReportFault } from './failure-texts.ts'
import type { HostPatience } from './host-patience.ts'
import { inWrapper } from './in-wrapper.ts'
import { namesOf } from '../model/model-list.ts'
import { sortContent, toResultContent, toToolCall } from './step-content.ts'
import { messagesOf, toSdkUsage, toStepResults } from './step-results.ts'
import { integrationsOf } from '../telemetry/telemetry-integration.ts'
import type { TurnAgent } from '../agent/turn-agent.ts'

/** The parts that the model call of a step consists of. */
export type PreparedCall = Omit<ModelCall, 'signal' | 'patience' | 'files' | 'around'>

/**
 * Calls the agent's callbacks and the SDK's telemetry integrations with the events of `streamText`, in its order.
 * One run corresponds to one call of `streamText`. Without listeners nothing is computed.
 */
export interface RunLifecycle {
  /** The run has its agent, and is about to begin its first work. */
  started(prompt: () => Promise<ModelMessage[]>): Promise<void>
  stepStarted(turn: Turn, call: PreparedCall, model: AskedModel): Promise<void>
  /** Called before each attempt; the returned function wraps the request to the provider. */
  modelCalled(call: PreparedCall, model: AskedModel): Promise<Around | undefined>
  modelEnded(turn: Turn): Promise<void>
  stepFailed(error: unknown): Promise<void>
  /** Wraps the execution of a tool. */
  toolRun(
    call: Call,
    messages: ModelMessage[],
    work: () => Promise<CallOutcome>,
  ): Promise<CallOutcome>
  /** Notifies the listeners of the steps that have ended since the last call. */
  steps(turn: Turn): Promise<void>
  ended(turn: Turn): Promise<void>
  /** The turn waits for a person, or continues in another process. */
  left(turn: Turn): Promise<void>
  failed(error: unknown): Promise<void>
  stopped(turn: Turn): Promise<void>
}

export type Around = <Result>(work: () => PromiseLike<Result>) => PromiseLike<Result>

export interface LifecycleRun {
  /** The agent with its current contexts. */
  readonly agent: () => TurnAgent
  readonly turn: Turn
  readonly clock: Clock
  readonly patience: HostPatience
  /** Called with what a listener throws, which changes nothing. */
  readonly onFault: ReportFault
  readonly maxRetries: number
}

const silent: RunLifecycle = {
  started: async () => undefined,
  stepStarted: async () => undefined,
  modelCalled: async () => undefined,
  modelEnded: async () => undefined,
  stepFailed: async () => undefined,
  toolRun: (_call, _messages, work) => work(),
  steps: async () => undefined,
  ended: async () => undefined,
  left: async () => undefined,
  failed: async () => undefined,
  stopped: async () => undefined,
}

export function createRunLifecycle(run: LifecycleRun): RunLifecycle {
  const { callbacks, telemetry } = run.agent()
  const own = listenerOf(callbacks, run.onFault)
  const listeners = [...(own === undefined ? [] : [own]), ...integrationsOf(telemetry, run.onFault)]
  return listeners.length === 0 ? silent : notifyingLifecycle(run, listeners)
}

function notifyingLifecycle(
  { agent, turn: before, clock, patience, onFault, maxRetries }: LifecycleRun,
  listeners: readonly LifecycleListener[],
): RunLifecycle {
  const callId = crypto.randomUUID()
  const stepsOf = (turn: Turn) => toStepResults(turn, originOf(agent(), callId))
  const first = stepsOf(before).length
  let notified = first
  let openStep: GenerateTextStepStartEvent | undefined
  let calledAt = 0
  const wrapping = (name: string) => ({
    clock,
    patience,
    onFault: (thrown: unknown) => onFault(`telemetry.${name}`, thrown),
  })
  const inModel = wrapping('executeLanguageModelCall')
  const inExecution = wrapping('executeTool')
  const perRun = listeners.filter(({ isPerRun }) => isPerRun)

  async function notify<Name extends keyof LifecycleEvents>(
    name: Name,
    event: LifecycleEvents[Name],
    to = listeners,
  ): Promise<void> {
    for (const listener of to) {
      // A listener is left as one that throws is: whoever notifies looks at the run's signal before it begins anything.
      await patience(listener.notify(name, event)).catch(() => undefined)
    }
  }
  async function steps(turn: Turn): Promise<void> {
    const ended = stepsOf(turn)
    for (const step of ended.slice(notified)) {
      openStep = undefined
      await notify('onStepEnd', step)
    }
    notified = ended.length
  }
  const abort = async (turn: Turn, to = listeners) =>
    notify('onAbort', { callId, steps: stepsOf(turn) }, to)
  /**
   * An integration sums up what it receives, so of a turn that other runs have begun it gets only the steps that
   * this run has added.
   */
  async function over(turn: Turn): Promise<void> {
    const made = stepsOf(turn).slice(first)
    if (made.length === 0) await abort(turn, perRun)
    else await notify('onEnd', toFinishEvent(turn, made, first), perRun)
  }

  return {
    steps,
    async started(prompt) {
      const { models, settings, instructions, step } = agent()
      const { provider, modelId } = namesOf(models[0])
      const event = {
        ...settings,
        ...contextsOf(agent()),
        callId,
        operationId: 'ai.streamText',
        provider,
        modelId,
        instructions,
        messages: await prompt(),
        tools: agent().toolbox.tools,
        toolChoice: settings.toolChoice,
        activeTools: step.activeTools,
        toolOrder: step.toolOrder,
        maxRetries,
        timeout: agent().timeout,
        headers: settings.headers,
        providerOptions: settings.providerOptions,
        output: step.output,
      }
      await notify('onStart', event as LifecycleEvents['onStart'])
    },
    async stepStarted(turn, call, model) {
      const { settings } = call
      const known = stepsOf(turn)
      const event = {
        ...contextsOf(agent()),
        ...model,
        callId,
        stepNumber: known.length,
        instructions: call.instructions,
        messages: call.messages,
        tools: agent().toolbox.tools,
        toolChoice: settings.toolChoice,
        activeTools: Object.keys(call.tools),
        toolOrder: call.toolOrder,
        steps: known,
        providerOptions: settings.providerOptions,
        output: call.output,
      }
      openStep = event as unknown as GenerateTextStepStartEvent
      await notify('onStepStart', openStep)
    },
    async modelCalled(call, model) {
      const { headers: _, toolChoice: __, providerOptions: ___, ...settings } = call.settings
      const event = {
        ...settings,
        ...model,
        callId,
        instructions: call.instructions,
        messages: call.messages,
        tools: await toDefinitions(call.tools),
      } as LanguageModelCallStartEvent
      await notify('onLanguageModelCallStart', event)
      calledAt = clock.now()
      return <Result>(work: () => PromiseLike<Result>) =>
        listeners.reduceRight(
          (inner, { inModelCall }) =>
            inModelCall === undefined
              ? inner
              : () => inWrapper(inModel, (begin) => inModelCall(event, begin), inner),
          async () => work(),
        )()
    },
    async modelEnded(turn) {
      const step = stepsOf(turn).at(-1)
      if (step === undefined) return
      const { outputTokens = 0, inputTokens = 0 } = step.usage
      const responseTimeMs = clock.now() - calledAt
      const perSecond = (tokens: number) =>
        responseTimeMs === 0 ? 0 : (tokens * 1_000) / responseTimeMs
      await notify('onLanguageModelCallEnd', {
        ...step.model,
        callId,
        finishReason: step.finishReason,
        usage: step.usage,
        content: step.content,
        responseId: step.response.id,
        ...(step.providerMetadata === undefined ? {} : { providerMetadata: step.providerMetadata }),
        performance: {
          responseTimeMs,
          effectiveOutputTokensPerSecond: perSecond(outputTokens),
          outputTokensPerSecond: undefined,
          inputTokensPerSecond: undefined,
          effectiveTotalTokensPerSecond: perSecond(inputTokens + outputTokens),
          timeToFirstOutputMs: undefined,
        },
      })
    },
    async stepFailed(error) {
      if (openStep === undefined) return
      const event = { ...openStep, error }
      openStep = undefined
      await notify('onStepError', event)
    },
    async toolRun(call, messages, work) {
      const toolCall = toToolCall(call)
      const toolContext = agent().toolbox.contexts[call.name]
      const event = { callId, messages, toolCall, toolContext } as ToolExecutionStartEvent
      await notify('onToolExecutionStart', event)
      const startedAt = clock.now()
      const around = listeners.reduceRight(
        (inner, { inTool }) =>
          inTool === undefined
            ? inner
            : () => inWrapper(inExecution, (begin) => inTool(event, begin), inner),
        work,
      )
      const outcome = await around()
      const at = clock.now()
      // The call as it will be once its end is stored.
      const [toolOutput] = toResultContent({ ...call, ...outcome, endedAt: at })
      const stopped = {
        ...toolCall,
        type: 'tool-error',
        error: new Error(`The call was ${outcome.state}.`),
      }
      await notify('onToolExecutionEnd', {
        ...event,
        toolExecutionMs: at - startedAt,
        toolOutput: toolOutput ?? stopped,
      } as ToolExecutionEndEvent)
      return outcome
    },
    async ended(turn) {
      await steps(turn)
      const all = stepsOf(turn)
      const callbacks = listeners.filter(({ isPerRun }) => !isPerRun)
      if (all.length > 0) await notify('onEnd', toFinishEvent(turn, all, 0), callbacks)
      await over(turn)
    },
    async left(turn) {
      await steps(turn)
      await over(turn)
    },
    failed: (error) => notify('onError', { callId, error }),
    stopped: (turn) => abort(turn),
  }
}

/** `runtimeContext` is an object in the SDK; the agent's `context` may be any value. */
const contextsOf = ({ context, toolsContext }: TurnAgent) => ({
  runtimeContext: (context ?? {}) as Record<string, unknown>,
  toolsContext,
})

export const originOf = (agent: TurnAgent, callId: string) => ({
  ...contextsOf(agent),
  callId,
  models: agent.models.map(namesOf),
})

/** The tool definitions as a provider receives them. */
const toDefinitions = (tools: ToolSet): Promise<Record<string, unknown>[]> =>
  Promise.all(
    Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
      type: 'function',
      name,
      ...(typeof description === 'string' ? { description } : {}),
      inputSchema: (await asSchema(inputSchema).jsonSchema) as unknown,
    })),
  )

/** `steps`: the steps that are reported, from the `from`th of the turn on. */
function toFinishEvent(
  turn: Turn,
  steps: readonly StepResult<ToolSet>[],
  from: number,
): FinishEvent {
  const last = steps.at(-1)
  if (last === undefined) throw new TypeError('A turn without a step has no end to tell of.')
  const stored = turn.steps.filter(({ status }) => status === 'ended').slice(from)
  const usage = toSdkUsage(
    stored.reduce(
      (sum, step) => addUsage(sum, step.status === 'ended' ? step.usage : undefined),
      {},
    ),
  )
  const {
    text: _,
    reasoning: __,
    reasoningText: ___,
    ...all
  } = sortContent(steps.flatMap(({ content }) => content))
  return {
    ...last,
    ...all,
    usage,
    totalUsage: usage,
    responseMessages: messagesOf({ ...turn, steps: stored }) as FinishEvent['responseMessages'],
    steps: [...steps],
    finalStep: last,
  }
}
