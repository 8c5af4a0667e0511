import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  flag,
  having,
  longestTimerMs,
  milliseconds,
  nearestName,
  oneOfWords,
  type OptionRule,
  type OptionTable,
  record,
  text,
  wholeNumber,
} from '../../core/check-options.ts'
import type { Agent } from '../agent/agent.ts'
import type { CallSettings } from '../model/call-model.ts'
import { checkFileOptions } from '../files/file-options.ts'
import { checkModels, type OfferedModel } from '../agent/offered-models.ts'
import type { HoldfastOptions } from './options.ts'
import type { TitleOptions } from '../threads/title-options.ts'
import type { ToolPolicy } from '../agent/tool-policy.ts'
import { isObject } from './check-names.ts'

const modelVersions: readonly unknown[] = ['v2', 'v3', 'v4']

const isModel = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') ||
  (having('', ['doStream']).fits(value) &&
    modelVersions.includes((value as { specificationVersion?: unknown }).specificationVersion))

export const modelRule = {
  range: 'an AI SDK model (version v2, v3 or v4) or its name, or a list of them',
  fits: (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(isModel) : isModel(value),
} satisfies OptionRule

const isFunction = (value: unknown): boolean => typeof value === 'function'
const names = {
  range: 'a list of names of tools',
  fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
} satisfies OptionRule

const isTimeout = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, ms]) =>
      (name === 'firstChunkMs' || name === 'chunkMs') && milliseconds(1, longestTimerMs).fits(ms),
  )
const isInstruction = (value: unknown): boolean => isObject(value) && value['role'] === 'system'

const isSchema = (value: unknown): boolean =>
  typeof value === 'function' ||
  (isObject(value) && ['~standard', '_def', 'validate', 'jsonSchema'].some((name) => name in value))

const finite = (byDefault: string): OptionRule => ({
  range: 'a finite number',
  fits: (value) => Number.isFinite(value),
  default: byDefault,
})
const byModel = 'the model’s own'

/** The rules of `settings`. Upper bounds are left to the model. */
export const settingRules: OptionTable<CallSettings> = {
  maxOutputTokens: wholeNumber(1, 1_000_000_000, byModel),
  temperature: finite(byModel),
  topP: finite(byModel),
  topK: finite(byModel),
  presencePenalty: finite(byModel),
  frequencyPenalty: finite(byModel),
  stopSequences: {
    range: 'a list of strings',
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    default: 'none',
  },
  seed: {
    range: 'a whole number',
    fits: (value) => Number.isSafeInteger(value),
    default: 'none',
  },
  reasoning: text(byModel),
  headers: record('an object of headers', 'none'),
  providerOptions: record('an object of options by provider', 'none'),
  toolChoice: {
    range: '"auto", "none", "required" or {type: "tool", toolName}',
    fits: (value) =>
      ['auto', 'none', 'required'].includes(value as string) ||
      (isObject(value) && value['type'] === 'tool' && typeof value['toolName'] === 'string'),
    default: '"auto"',
  },
}

/** The rules of an agent, and of the options that are shorthand for one. */
export const agentRules: OptionTable<Agent> = {
  model: modelRule,
  instructions: {
    range: 'a string, a system message or a list of them',
    fits: (value) =>
      typeof value === 'string' ||
      (Array.isArray(value) ? value.every(isInstruction) : isInstruction(value)),
    default: 'none',
  },
  timeout: {
    range: '{firstChunkMs?, chunkMs?}, each from 1 ms',
    fits: isTimeout,
    default: 'no limit',
  },
  stopWhen: {
    range: 'a function of the steps, or a list of them',
    fits: (value) => isFunction(value) || (Array.isArray(value) && value.every(isFunction)),
    default: 'none',
  },
  prepareStep: callback('none'),
  activeTools: { ...names, default: 'all' },
  toolOrder: { ...names, default: 'as they are given' },
  repairToolCall: callback('none'),
  experimental_repairToolCall: callback('none'),
  output: record('an `Output` of the AI SDK', 'text'),
  telemetry: record('an object: the `telemetry` of `streamText`', 'what is registered is told'),
  maxRetries: wholeNumber(0, 100, '2'),
  onStart: callback('none'),
  onStepStart: callback('none'),
  onStepError: callback('none'),
  onLanguageModelCallStart: callback('none'),
  onLanguageModelCallEnd: callback('none'),
  onToolExecutionStart: callback('none'),
  onToolExecutionEnd: callback('none'),
  onStepEnd: callback('none'),
  onStepFinish: callback('none'),
  onEnd: callback('none'),
  onFinish: callback('none'),
  onError: callback('none'),
  onAbort: callback('none'),
  context: { range: 'anything', fits: () => true, default: 'undefined' },
  tools: record('an object of AI SDK tools, by name', 'none'),
  toolsContext: record('an object of contexts, by the name of their tool', 'none'),
  policies: record('an object of policies, by the name of their tool', 'none'),
  toolApproval: {
    range: 'a function, or an object of statuses or functions by tool',
    fits: (value) => typeof value === 'function' || isObject(value),
    default: 'none',
  },
  ...settingRules,
}

/** The rules of `createHoldfast`; the options of an agent are in `agentRules`. */
export const engineRules: OptionTable<Omit<HoldfastOptions, keyof Agent>> = {
  store: having('a store, such as sqlite(file), postgres(url) or memory()', [
    'commit',
    'readPage',
    'readChanges',
    'watch',
    'close',
  ]),
  agent: {
    range: 'an agent, or a function that gives one',
    fits: (value) => typeof value === 'function' || isObject(value),
    default: 'the options of an agent that stand beside it',
  },
  agentTimeoutMs: milliseconds(1, longestTimerMs, '30,000'),
  choices: {
    range: 'a schema',
    fits: isSchema,
    default: 'none: a request with choices is refused',
  },
  models: {
    range: 'a list of models, each with id and label, or a function that gives one',
    fits: (value) => typeof value === 'function' || Array.isArray(value),
    default: 'none: nothing can be picked',
  },
  settings: record('an object of call settings', 'none'),
  hooks: callback('`logFailures`: failures are written to the standard error'),
  errorText: callback('a neutral sentence with an id that is in the log'),
  maxSteps: wholeNumber(1, 10_000, '30'),
  toolConcurrency: wholeNumber(1, 10_000, '10'),
  toolTimeoutMs: milliseconds(1, longestTimerMs, 'no limit'),
  maxOutputChars: wholeNumber(1, 1_000_000_000, '200,000'),
  maxTextChars: wholeNumber(1, 100_000_000, '1,000,000'),
  maxArgumentChars: wholeNumber(1, 100_000_000, '1,000,000'),
  maxCalls: wholeNumber(1, 100_000, '1,000'),
  maxResultChars: wholeNumber(1, 100_000_000, '16,000,000'),
  maxTurnChars: wholeNumber(1, 1_000_000_000, '64,000,000'),
  resumeRecorded: callback('none'),
  selectHistory: callback('the last 1,000 messages, up to 16,777,216 characters'),
  continueText: {
    range: '"prefix", "instruction", or a function of the model',
    fits: (value) => value === 'prefix' || value === 'instruction' || typeof value === 'function',
    default: '"instruction"',
  },
  modelRetries: wholeNumber(0, 100, '2'),
  retryDelayMs: milliseconds(0, 30_000, '500'),
  textDelayMs: milliseconds(0, 50, '25'),
  leaseMs: milliseconds(100, 3_600_000, '5,000'),
  recoverEveryMs: milliseconds(0, 86_400_000, '1,000, or 0 with `handOverAfterMs`; 0: never'),
  handOverAfterMs: milliseconds(1, longestTimerMs, 'never'),
  handOverGraceMs: milliseconds(0, longestTimerMs, '2,000'),
  maxTakeovers: wholeNumber(0, 1_000_000, '5'),
  recovery: oneOfWords(['continue', 'end'], '"continue"'),
  unknownOutcome: oneOfWords(['wait', 'tell-model'], '"wait"'),
  whenBusy: oneOfWords(['queue', 'steer', 'interrupt', 'reject'], '"queue"'),
  title: {
    range: 'false, or an object with model and instructions',
    fits: (value) => value === false || isObject(value),
    default: 'false; in `holdfast serve` {}',
  },
  files: record('an object of options for files', 'the store’s own file store'),
  holder: text('the process, as the store knows it'),
  clock: having('a clock with now, after and soon', ['now', 'after', 'soon'], 'the system’s'),
  newId: callback('random ids'),
}

export const holdfastRules: OptionTable<HoldfastOptions> = {
  ...engineRules,
  ...agentRules,
  model: { ...modelRule, default: 'none: then only recorded turns and the repository write' },
}

/** The rules of the `title` option. */
export const titleRules: OptionTable<TitleOptions> = {
  model: { ...modelRule, default: 'the model of the answer' },
  instructions: text('three to six words, in the language of the conversation'),
}

/** The rules of one entry of `policies`. */
export const policyRules: OptionTable<ToolPolicy> = {
  approval: {
    range: '"always", "never" or a function of the arguments',
    fits: (value) => value === 'always' || value === 'never' || typeof value === 'function',
    default: 'as the tool or `toolApproval` says',
  },
  repeatable: flag('false'),
  timeoutMs: milliseconds(1, longestTimerMs, '`toolTimeoutMs`'),
  version: text('none'),
}

const otherNames = {
  system: 'instructions',
  prompt: 'instructions',
  maxToolRoundtrips: 'maxSteps',
  policy: 'policies',
  approval: 'policies',
  runtimeContext: 'context',
  maxTokens: 'maxOutputTokens',
}
const otherEngineNames = { ...otherNames, db: 'store', database: 'store', onEvent: 'hooks' }

const where = 'createHoldfast'

/** Checks everything that can be known to be wrong before the first turn. */
export function checkHoldfastOptions(options: HoldfastOptions): void {
  checkOptions(where, options, holdfastRules, otherEngineNames)
  const { agent, settings, models } = options
  if (Array.isArray(models)) {
    checkModels(`${where}, models`, models, modelRule)
    const isLost = (models as readonly OfferedModel[]).find(
      (offered) => offered.model === undefined,
    )
    if (isLost !== undefined && agent === undefined && options.model === undefined) {
      throw badOption(`${where}, models: "${isLost.id}" needs a "model", for there is no other.`)
    }
  }
  checkFileOptions(where, options.files)
  if (options.title !== undefined && options.title !== false) {
    checkOptions(`${where}, title`, options.title, titleRules, { system: 'instructions' })
  }
  if (agent !== undefined) {
    const besides = [...Object.keys(agentRules), 'settings']
    const given = besides.find((name) => options[name as keyof HoldfastOptions] !== undefined)
    if (given !== undefined) {
      throw badOption(
        `${where} was given both "agent" and "${given}": "${given}" is the agent’s, and belongs into it.`,
      )
    }
    if (typeof agent !== 'function') checkAgent(`${where}, agent`, agent)
    else if (Array.isArray(models) && models.some((offered) => 'model' in offered)) {
      throw badOption(
        `${where}: "models" has a "model" beside an "agent" that is a function: that gives the model itself, by "choices.model".`,
      )
    }
    return
  }
  if (settings !== undefined) {
    checkOptions(`${where}, settings`, settings, settingRules, { maxTokens: 'maxOutputTokens' })
  }
  checkTools(where, { ...settings, ...options })
}

/** Checks one agent: a given object, or what a function of the host application returned for a turn. */
export function checkAgent(place: string, agent: unknown): void {
  checkOptions(place, agent as Agent, agentRules, otherNames)
  checkTools(place, agent as Agent)
}

function checkTools(place: string, agent: Partial<Agent>): void {
  const { tools = {}, policies = {}, toolApproval, toolsContext = {}, toolChoice } = agent
  const names = Object.keys(tools)
  for (const name of names) checkTool(place, name, tools[name])
  const assertKnown = (name: string, option: string) => assertTool(place, name, names, option)
  for (const name of Object.keys(policies)) {
    assertKnown(name, 'policies')
    checkOptions(`${place}, policies.${name}`, policies[name] as ToolPolicy, policyRules, {
      needsApproval: 'approval',
      toolTimeoutMs: 'timeoutMs',
    })
  }
  if (isObject(toolApproval)) {
    for (const name of Object.keys(toolApproval)) assertKnown(name, 'toolApproval')
  }
  for (const name of Object.keys(toolsContext)) assertKnown(name, 'toolsContext')
  for (const name of agent.activeTools ?? []) assertKnown(name, 'activeTools')
  for (const name of agent.toolOrder ?? []) assertKnown(name, 'toolOrder')
  if (typeof toolChoice === 'object') assertKnown(toolChoice.toolName, 'toolChoice')
}

function assertTool(place: string, name: string, known: readonly string[], option: string): void {
  if (known.includes(name)) return
  const meant = nearestName(name, known)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  throw badOption(`${place}: ${option} speaks of the tool "${name}", and there is none.${hint}`)
}

function checkTool(place: string, name: string, tool: unknown): void {
  if (name.trim() === '') throw badOption(`${place}: a tool has no name.`)
  if (!isObject(tool)) {
    throw badOption(
      `${place}: the tool "${name}" must be an AI SDK tool, not ${describeValue(tool)}.`,
    )
  }
  const { inputSchema, execute, type } = tool
  if (inputSchema == null && type !== 'provider' && type !== 'provider-defined') {
    const old = 'parameters' in tool ? ' ("parameters" is what AI SDK 4 called it)' : ''
    throw badOption(`${place}: the tool "${name}" has no "inputSchema"${old}.`)
  }
  if (execute !== undefined && typeof execute !== 'function') {
    throw badOption(
      `${place}: "execute" of the tool "${name}" must be a function, not ${describeValue(execute)}.`,
    )
  }
}
