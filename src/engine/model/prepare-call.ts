import type { Instructions, LanguageModel, ModelMessage } from 'ai'
import type { Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { isObject } from '../options/check-names.ts'
import { settingRules } from '../options/option-rules.ts'
import { originOf, type PreparedCall } from '../run/run-lifecycle.ts'
import { type PrepareStep, toStepResults } from '../run/step-results.ts'
import type { TurnAgent } from '../agent/turn-agent.ts'

type Prepared = Exclude<Awaited<ReturnType<PrepareStep>>, undefined>

/** What a step is about to send to the model. */
export interface StepDraft {
  readonly turn: Turn
  readonly model: LanguageModel
  /** The prompt of the messages before the turn. */
  readonly initialMessages: () => Promise<ModelMessage[]>
  /** The prompt built from the ledger. */
  readonly messages: ModelMessage[]
}

/** What `prepareStep` returned, as far as it stays in force until it returns something else. */
interface Carried {
  readonly agent: TurnAgent
  readonly instructions: Instructions | undefined
  /** Replaces `ledger`, the prompt built from the ledger at that step; messages added since are appended. */
  readonly messages?: { readonly given: ModelMessage[]; readonly ledger: ModelMessage[] }
}

export interface StepPreparer {
  /** With the contexts that `prepareStep` returned last. */
  readonly agent: TurnAgent
  /** The model call of a step, with the changes that the agent's `prepareStep` returns. */
  prepare(draft: StepDraft): Promise<PreparedCall>
}

/**
 * For one run. What is carried from step to step is not stored: a process that takes the run over begins with the
 * agent's own values.
 */
export function createStepPreparer(agent: TurnAgent): StepPreparer {
  let carried: Carried = { agent, instructions: agent.instructions }
  // A step that is attempted again by another model is prepared from the same values as the first attempt.
  let last: { readonly step: number; readonly before: Carried } | undefined

  return {
    get agent() {
      return carried.agent
    },
    async prepare(draft) {
      const { prepareStep } = agent.step
      if (prepareStep === undefined) return toCall(carried, draft, {}, draft.messages)
      const step = draft.turn.steps.filter(({ status }) => status === 'ended').length
      const before = last?.step === step ? last.before : carried
      last = { step, before }
      const messages = messagesAt(before, draft)
      const given = (await prepareStep(await toOptions(before, draft, messages))) ?? {}
      carried = carry(before, given, draft)
      return toCall(carried, draft, given, given.messages ?? messages)
    },
  }
}

async function toOptions(
  { agent, instructions }: Carried,
  { turn, model, initialMessages }: StepDraft,
  messages: ModelMessage[],
): Promise<Parameters<PrepareStep<never>>[0]> {
  const { toolsContext, runtimeContext, ...origin } = originOf(agent, turn.id)
  const steps = toStepResults(turn, { ...origin, toolsContext, runtimeContext })
  return {
    steps,
    stepNumber: steps.length,
    model,
    instructions,
    initialInstructions: agent.instructions,
    messages,
    initialMessages: await initialMessages(),
    responseMessages: steps.flatMap(({ response }) => response.messages),
    toolsContext,
    // Typed by the agent; the SDK's own type requires an object.
    runtimeContext: runtimeContext as never,
  }
}

/** Messages that the ledger has added since are appended to what `prepareStep` returned for the earlier ones. */
function messagesAt({ messages }: Carried, draft: StepDraft): ModelMessage[] {
  if (messages === undefined) return draft.messages
  const { given, ledger } = messages
  const differs = draft.messages.findIndex(
    (message, index) => JSON.stringify(message) !== JSON.stringify(ledger[index]),
  )
  return differs === -1 ? given : [...given, ...draft.messages.slice(differs)]
}

function carry(before: Carried, given: Prepared, draft: StepDraft): Carried {
  const { runtimeContext, toolsContext } = given
  const agent =
    runtimeContext === undefined && toolsContext === undefined
      ? before.agent
      : before.agent.withContexts(
          runtimeContext ?? before.agent.context,
          toolsContext ?? before.agent.toolsContext,
        )
  const messages =
    given.messages === undefined
      ? before.messages
      : { given: given.messages, ledger: draft.messages }
  const instructions = given.instructions ?? given.system ?? before.instructions
  return withDefined({ agent, instructions }, { messages })
}

function toCall(
  { agent, instructions }: Carried,
  draft: StepDraft,
  given: Prepared,
  messages: ModelMessage[],
): PreparedCall {
  const { toolbox, settings, step: options } = agent
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
  const providerOptions = mergeOptions(settings.providerOptions, given.providerOptions)
  return withDefined(
    {
      model: given.model ?? draft.model,
      instructions,
      messages,
      tools,
      toolsContext: toolbox.contexts,
      settings: withDefined(settings, { ...own, providerOptions }),
    },
    {
      toolOrder: given.toolOrder ?? options.toolOrder,
      repairToolCall: options.repairToolCall,
      output: options.output,
    },
  )
}

type Options = Readonly<Record<string, unknown>>

/**
 * Values of the second win, object by object: a step that sets one option of a provider keeps the provider's other
 * options.
 */
function mergeOptions<Kind extends Options>(
  base: Kind | undefined,
  over: Kind | undefined,
): Kind | undefined {
  if (base === undefined || over === undefined) return over ?? base
  const changes = Object.entries(over)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const known = Object.hasOwn(base, name) ? base[name] : undefined
      return [
        name,
        isObject(known) && isObject(value) ? mergeOptions(known, value) : value,
      ] as const
    })
  // Built from entries, not by assignment: `__proto__` as a key is data.
  return Object.fromEntries([...Object.entries(base), ...changes]) as Kind
}
