import type {
  LanguageModelUsage,
  ModelMessage,
  PrepareStepFunction,
  StepResult,
  StopCondition,
  ToolSet,
} from 'ai'
import { type Call, isOpenCall } from '../../core/call.ts'
import type { Step, Turn } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { projectPrompt } from '../../views/model-prompt.ts'
import type { AskedModel } from '../telemetry/hooks.ts'
import type { WithContext } from '../telemetry/lifecycle-callbacks.ts'
import { toSdkFinishReason, toStepContent } from './step-content.ts'

export type EndedStep = Extract<Step, { readonly status: 'ended' }>

/** What the results of steps contain and the stored turn does not: the run, its models and its contexts. */
export interface StepOrigin {
  /** One run is one call of `streamText`. */
  readonly callId: string
  /** The models that could have been called: a step stores only the id of the one that was. */
  readonly models: readonly AskedModel[]
  readonly runtimeContext: unknown
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** The steps of a turn that have ended, as `streamText` passes them to its functions and callbacks. */
export const toStepResults = (turn: Turn, origin: StepOrigin): StepResult<ToolSet>[] =>
  turn.steps
    .filter((step): step is EndedStep => step.status === 'ended')
    .map((step, stepNumber) => toStepResult(turn, step, stepNumber, origin))

/**
 * What the ledger stores of a step. What it does not store (raw requests, warnings, the pace of a stream) is empty.
 */
function toStepResult(
  turn: Turn,
  step: EndedStep,
  stepNumber: number,
  { callId, models, runtimeContext, toolsContext }: StepOrigin,
): StepResult<ToolSet> {
  const content = toStepContent(step)
  const modelId = step.model ?? ''
  const provider = models.find((model) => model.modelId === modelId)?.provider ?? ''
  const result = {
    callId,
    stepNumber,
    model: { provider, modelId },
    ...content,
    finishReason: toSdkFinishReason(step.finishReason),
    rawFinishReason: undefined,
    usage: toSdkUsage(step.usage),
    warnings: [],
    request: {},
    response: {
      id: '',
      timestamp: new Date(step.endedAt),
      modelId,
      // Computed lazily: seldom read, and built from everything in the step.
      get messages() {
        return messagesOf({ ...turn, steps: [step] })
      },
    },
    providerMetadata: step.providerMetadata,
    performance: toPerformance(step),
    toolsContext,
    runtimeContext,
  }
  // The types of the tool set are not known here.
  return result as unknown as StepResult<ToolSet>
}

/** The messages of a turn for the model, assistant and tool, without those before the turn. */
export const messagesOf = (turn: Turn): ModelMessage[] =>
  (projectPrompt([turn]) as ModelMessage[]).filter(
    ({ role }) => role === 'assistant' || role === 'tool',
  )

export function toSdkUsage(usage: Usage = {}): LanguageModelUsage {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens } = usage
  const rest = (all: number | undefined, part: number | undefined) =>
    all === undefined || part === undefined ? undefined : Math.max(0, all - part)
  return {
    inputTokens,
    inputTokenDetails: {
      noCacheTokens: rest(inputTokens, cachedInputTokens),
      cacheReadTokens: cachedInputTokens,
      cacheWriteTokens: undefined,
    },
    outputTokens,
    outputTokenDetails: { textTokens: rest(outputTokens, reasoningTokens), reasoningTokens },
    totalTokens,
  }
}

/** Derived from the stored times. The pace of the stream is not stored. */
function toPerformance(step: EndedStep): StepResult<ToolSet>['performance'] {
  const responseTimeMs = Math.max(0, step.endedAt - step.startedAt)
  const ended = step.parts.filter((part) => part.type === 'call').filter(hasRun)
  const lastAt = Math.max(step.endedAt, ...ended.map(({ endedAt }) => endedAt))
  const { inputTokens = 0, outputTokens = 0 } = step.usage ?? {}
  const perSecond = (tokens: number) =>
    responseTimeMs === 0 ? 0 : (tokens * 1_000) / responseTimeMs
  return {
    effectiveOutputTokensPerSecond: perSecond(outputTokens),
    outputTokensPerSecond: undefined,
    inputTokensPerSecond: undefined,
    effectiveTotalTokensPerSecond: perSecond(inputTokens + outputTokens),
    stepTimeMs: lastAt - step.startedAt,
    responseTimeMs,
    toolExecutionMs: Object.fromEntries(
      ended.map(({ id, startedAt, endedAt }) => [id, endedAt - startedAt]),
    ),
    timeToFirstOutputMs: undefined,
  }
}

const hasRun = (call: Call): call is Call & { startedAt: number; endedAt: number } =>
  !isOpenCall(call) && call.startedAt !== undefined

/** As in `streamText`, with the agent's `context` as `runtimeContext`. */
export type PrepareStep<Context = unknown> = (
  options: WithContext<Parameters<PrepareStepFunction<ToolSet>>[0], Context>,
) => ReturnType<PrepareStepFunction<ToolSet>>

/** One or more conditions of the SDK (`isStepCount`, `hasToolCall` …); any of them ends the turn. */
export type StopWhen = StopCondition<ToolSet> | readonly StopCondition<ToolSet>[]

/** `from`: the steps before it existed when a person asked to continue, and are not counted again. */
export async function isToStop(
  stopWhen: StopWhen | undefined,
  steps: () => readonly StepResult<ToolSet>[],
  from: number,
): Promise<boolean> {
  if (stopWhen === undefined) return false
  const counted = steps().slice(from)
  if (counted.length === 0) return false
  const conditions = typeof stopWhen === 'function' ? [stopWhen] : stopWhen
  const met = await Promise.all(conditions.map(async (condition) => condition({ steps: counted })))
  return met.includes(true)
}
