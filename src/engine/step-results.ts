import type { PrepareStepFunction, StepResult, StopCondition, ToolSet } from 'ai'
import type { Call } from '../core/call.ts'
import type { Step, Turn } from '../core/message.ts'

type EndedStep = Extract<Step, { readonly status: 'ended' }>

/** The steps of a turn that have ended, as `streamText` gives them to `stopWhen` and `prepareStep`. */
export const toStepResults = (turn: Turn): StepResult<ToolSet>[] =>
  turn.steps
    .filter((step): step is EndedStep => step.status === 'ended')
    .map((step, stepNumber) => toStepResult(turn, step, stepNumber))

/** What the ledger keeps of a step. What it does not keep (raw requests, timings, warnings) is empty. */
function toStepResult(turn: Turn, step: EndedStep, stepNumber: number): StepResult<ToolSet> {
  const calls = step.parts.filter((part) => part.type === 'call')
  const toolCalls = calls.map(toToolCall)
  const toolResults = calls.flatMap((call) => {
    const { input, ...head } = toToolCall(call)
    if (call.state !== 'succeeded' || call.output.kind !== 'inline') return []
    return [{ ...head, type: 'tool-result' as const, input, output: call.output.value }]
  })
  const textOf = (type: 'text' | 'reasoning') =>
    step.parts.map((part) => (part.type === type ? part.text : '')).join('')
  const reasoningText = textOf('reasoning')
  const { usage = {} } = step
  const result = {
    callId: turn.id,
    stepNumber,
    model: { provider: '', modelId: step.model ?? '' },
    content: [
      ...step.parts.flatMap((part) =>
        part.type === 'text' || part.type === 'reasoning'
          ? [{ type: part.type, text: part.text }]
          : [],
      ),
      ...toolCalls,
      ...toolResults,
    ],
    text: textOf('text'),
    reasoning: [],
    reasoningText: reasoningText === '' ? undefined : reasoningText,
    files: [],
    sources: [],
    toolCalls,
    staticToolCalls: toolCalls.filter(({ dynamic }) => dynamic !== true),
    dynamicToolCalls: toolCalls.filter(({ dynamic }) => dynamic === true),
    toolResults,
    staticToolResults: toolResults.filter(({ dynamic }) => dynamic !== true),
    dynamicToolResults: toolResults.filter(({ dynamic }) => dynamic === true),
    finishReason: step.finishReason,
    rawFinishReason: undefined,
    usage: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.totalTokens,
      inputTokenDetails: { cacheReadTokens: usage.cachedInputTokens },
      outputTokenDetails: { reasoningTokens: usage.reasoningTokens },
    },
    warnings: [],
    request: {},
    response: {
      id: '',
      timestamp: new Date(step.endedAt),
      modelId: step.model ?? '',
      messages: [],
    },
    providerMetadata: step.providerMetadata,
    toolsContext: {},
    runtimeContext: {},
  }
  return result as unknown as StepResult<ToolSet>
}

const toToolCall = ({ id, name, input, dynamic, providerExecuted }: Call) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: name,
  input: input.kind === 'complete' ? input.value : input.text,
  ...(dynamic === true ? { dynamic } : {}),
  ...(providerExecuted === true ? { providerExecuted } : {}),
})

export type PrepareStep = PrepareStepFunction<ToolSet>
export type StopWhen = StopCondition<ToolSet> | readonly StopCondition<ToolSet>[]

/** `from`: steps before it were there when a person asked for more, and are not counted again. */
export async function isToStop(
  stopWhen: StopWhen | undefined,
  turn: Turn,
  from: number,
): Promise<boolean> {
  if (stopWhen === undefined) return false
  const steps = toStepResults(turn).slice(from)
  if (steps.length === 0) return false
  const conditions = typeof stopWhen === 'function' ? [stopWhen] : stopWhen
  const met = await Promise.all(conditions.map(async (condition) => condition({ steps })))
  return met.includes(true)
}
