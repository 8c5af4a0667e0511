import type { LanguageModel, ModelMessage } from 'ai'
import type { Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { ModelCall } from './call-model.ts'
import { settingRules } from './option-rules.ts'
import { type PrepareStep, toStepResults } from './step-results.ts'
import type { TurnAgent } from './turn-agent.ts'

type Prepared = Exclude<Awaited<ReturnType<PrepareStep>>, undefined>

/** What a step is about to send. */
interface StepDraft {
  readonly turn: Turn
  readonly model: LanguageModel
  readonly messages: ModelMessage[]
}

/** The model call of a step, with what the agent's `prepareStep` says of this step alone. */
export async function prepareCall(
  agent: TurnAgent,
  { turn, model, messages }: StepDraft,
): Promise<Omit<ModelCall, 'signal' | 'files'>> {
  const { instructions, toolbox, settings, step: options } = agent
  const steps = options.prepareStep === undefined ? [] : toStepResults(turn)
  const toolsContext = toolbox.contexts
  const given: Prepared =
    (await options.prepareStep?.({
      steps,
      stepNumber: steps.length,
      model,
      instructions,
      initialInstructions: instructions,
      messages,
      initialMessages: messages,
      responseMessages: [],
      toolsContext,
      runtimeContext: (agent.context ?? {}) as never,
    })) ?? {}
  const activeTools = given.activeTools ?? options.activeTools
  const tools =
    activeTools === undefined
      ? toolbox.tools
      : Object.fromEntries(
          Object.entries(toolbox.tools).filter(([name]) => activeTools.includes(name)),
        )
  const own = Object.fromEntries(
    Object.keys(settingRules).map((name) => [name, given[name as keyof Prepared]]),
  )
  return withDefined(
    {
      model: given.model ?? model,
      instructions: given.instructions ?? given.system ?? instructions,
      messages: given.messages ?? messages,
      tools,
      toolsContext,
      settings: withDefined(settings, own),
    },
    {
      toolOrder: given.toolOrder ?? options.toolOrder,
      repairToolCall: options.repairToolCall,
      output: options.output,
    },
  )
}
