import type { ModelMessage } from 'ai'
import type { CallId } from '../../core/ids.ts'
import type { Message, Turn } from '../../core/message.ts'
import { type ContinueText, projectPrompt } from '../../views/model-prompt.ts'
import type { AgentReason } from '../agent/agent.ts'
import type { TurnPlace } from '../call-scope.ts'
import { storedChoices } from '../agent/choices.ts'
import type { Clock } from '../clock.ts'
import type { FailureTexts } from './failure-texts.ts'
import type { HostPatience } from './host-patience.ts'
import { createFileLoader } from '../files/file-loader.ts'
import { createOffload } from '../files/offload-files.ts'
import type { EngineFiles } from '../files/files.ts'
import type { RunHooks } from '../telemetry/hooks.ts'
import { createModelList, namesOf } from '../model/model-list.ts'
import { noModel } from '../agent/no-model.ts'
import type { EngineOptions } from '../options/options.ts'
import { createStepPreparer } from '../model/prepare-call.ts'
import type { HistorySource } from '../model/read-history.ts'
import { createPromptFiles } from '../files/prompt-files.ts'
import type { PromptMemory, RunMemory } from './prompt-memory.ts'
import type { ResultMemory, RunResults } from './result-memory.ts'
import { nothingUsed, usedBy } from './turn-size.ts'
import type { Run } from './run-context.ts'
import type { RunLedger } from './run-ledger.ts'
import { createRunLifecycle, type PreparedCall } from './run-lifecycle.ts'
import type { AgentSource, TurnAgent } from '../agent/turn-agent.ts'

export interface RunParts {
  readonly place: TurnPlace
  readonly reason: AgentReason
  readonly options: EngineOptions
  readonly agents: AgentSource
  readonly files: EngineFiles
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
  readonly history: HistorySource
  readonly promptMemory: PromptMemory
  readonly resultMemory: ResultMemory
  readonly newCallId: () => CallId
  /** A person asked to continue a turn that had ended: the run begins with a step. */
  readonly force: boolean
}

/** What exists of a run before its agent is resolved: enough to end the turn. */
export interface BegunRun extends RunParts {
  readonly failureTexts: FailureTexts
  readonly memory: RunMemory
  readonly results: RunResults
  readonly signal: AbortSignal
  readonly patience: HostPatience
  readonly isLeaving: Run['isLeaving']
  readonly handOver: Run['handOver']
  readonly onAgent: (agent: TurnAgent) => void
}

/** Returns the fixed agent without a promise where it is the same for every turn. */
export function agentOf(begun: BegunRun): TurnAgent | Promise<TurnAgent> {
  const { fixed, isPicked } = begun.agents
  return fixed === undefined || isPicked ? resolveAgent(begun) : fixed
}

/** Resolves the agent of the turn now, for this run alone (AG1). */
async function resolveAgent(begun: BegunRun): Promise<TurnAgent> {
  const { agents, place, reason, ledger, signal } = begun
  const choices = await storedChoices(begun, ledger.turn)
  return agents.resolve({ ...place, choices, reason }, signal)
}

/** Builds the context that one run works with. */
export function createRun(parts: BegunRun, agent: TurnAgent): Run {
  const { ledger, options, signal, place, memory, patience } = parts
  const own = createPromptFiles(parts.files, place.ownerId)
  const loader = createFileLoader(parts.clock, signal, {
    fetchFile: own.fetch,
    onLoaded: (bytes) => memory.countFiles(bytes + own.inlineBytes),
    ...(parts.files.reference === undefined ? {} : { referTo: own.refer }),
  })
  let prompt: ModelMessage[] = []
  let history: readonly Message[] | undefined
  let prepared: PreparedCall | undefined
  const models = createModelList(agent.models)
  const steps = createStepPreparer(agent)
  const lifecycle = createRunLifecycle({
    agent: () => steps.agent,
    turn: ledger.turn,
    clock: parts.clock,
    patience,
    onFault: parts.failureTexts.ofObserver,
    maxRetries: agent.maxRetries ?? options.modelRetries,
  })
  const promptOf = async (turn: Turn): Promise<ModelMessage[]> => {
    history ??= (await memory.readHistory(parts.history)).messages
    const how = {
      isDeferred: agent.toolbox.isDeferred,
      maxOutputChars: options.maxOutputChars,
      continueText: continueTextOf(),
    }
    const prompt = await own.plan([...history, turn])
    if (prompt.bytes > 0) await memory.holdFiles(prompt.bytes)
    const messages = await prompt.resolve()
    return projectPrompt(messages, how) as ModelMessage[]
  }
  const continueTextOf = (): ContinueText => {
    const { continueText } = options
    if (typeof continueText === 'string') return continueText
    return models.current === undefined ? 'instruction' : continueText(models.current)
  }
  const identify = () =>
    parts.hooks.identify({
      context: steps.agent.context,
      abortSignal: signal,
      turn: () => ledger.expected,
      prompt: () => prompt,
    })
  identify()
  return {
    ...parts,
    offload: createOffload(parts),
    get agent() {
      return steps.agent
    },
    lifecycle,
    turnId: place.turnId,
    // A person who continues a turn has seen its content, so that does not count against the limits again.
    allowed: parts.force ? usedBy(ledger.turn) : nothingUsed,
    get model() {
      return namesOf(prepared?.model ?? models.current)
    },
    models,
    get continueText() {
      return continueTextOf()
    },
    get prompt() {
      return prompt
    },
    initialPrompt: () => patience(promptOf({ ...ledger.turn, steps: [] })),
    async prepareStep() {
      const model = models.current
      if (model === undefined) throw noModel()
      const { turn } = ledger
      // Reads only: nothing that has arrived is lost where it is left.
      prompt = await patience(promptOf(turn))
      const initialMessages = () => promptOf({ ...turn, steps: [] })
      prepared = await patience(steps.prepare({ turn, model, initialMessages, messages: prompt }))
      if (steps.agent !== agent) identify()
      await lifecycle.stepStarted(turn, prepared, namesOf(prepared.model))
      signal.throwIfAborted()
    },
    async modelCall() {
      if (prepared === undefined) throw new TypeError('The step has not been prepared.')
      const around = await lifecycle.modelCalled(prepared, namesOf(prepared.model))
      signal.throwIfAborted()
      return {
        ...prepared,
        signal,
        patience,
        files: loader,
        ...(around === undefined ? {} : { around }),
      }
    },
  }
}
