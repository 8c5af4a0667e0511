import type { LanguageModel } from 'ai'
import { type Clock, systemClock } from '../engine/clock.ts'
import type { OfferedModel } from '../engine/agent/offered-models.ts'
import { planDemoStep } from './demo-plan.ts'
import { type DemoCallOptions, type DemoLanguageModel, readDemoPrompt } from './demo-prompt.ts'
import {
  callIdOf,
  type DemoFinish,
  type DemoUtterance,
  streamUtterances,
  toStream,
} from './demo-stream.ts'
import { titlePromptStart } from '../engine/threads/title-options.ts'

/** Options of {@link demoModel}. */
export interface DemoModelOptions {
  /** The clock of the pauses. @default the system clock */
  readonly clock?: Clock
  /** The pause before each piece of text or arguments. @default 20 */
  readonly delayMs?: number
  /** `terse`: only the first sentence of each text; the tool calls are the same. @default 'full' */
  readonly style?: 'full' | 'terse'
}

/**
 * A model that needs no network. Its output depends on the prompt alone: the same message after the same history gives
 * the same stream. It understands phrases such as “weather in Paris”, “delete note Ideas” and “call 5 tools”, and
 * answers anything else in text. It calls the tools of {@link createDemoTools} by name.
 */
export function demoModel(options: DemoModelOptions = {}): LanguageModel {
  const { clock = systemClock, delayMs = 20, style = 'full' } = options
  const model: DemoLanguageModel = {
    specificationVersion: 'v4',
    provider: 'holdfast',
    modelId: style === 'terse' ? 'demo-terse' : 'demo',
    supportedUrls: {},

    async doStream(call) {
      const { utterances, finish, calls } = planCall(call, style)
      const signal = call.abortSignal
      return {
        stream: toStream(
          streamUtterances(utterances, calls, finish, { clock, delayMs, signal }),
          signal,
        ),
      }
    },

    async doGenerate(call) {
      const { utterances, finish, calls } = planCall(call, style)
      const content = toContent(utterances, calls)
      const { finishReason, usage } = finish
      return { content, finishReason, usage, warnings: [] }
    },
  }
  return model
}

/** The models that can be picked with the demo: two variants, which differ in the length of their texts. */
export function createDemoModels(options: DemoModelOptions = {}): readonly OfferedModel[] {
  return [
    {
      id: 'demo',
      label: 'Demo',
      description: 'Answers offline, from made-up data.',
      model: demoModel(options),
    },
    {
      id: 'demo-terse',
      label: 'Demo, terse',
      description: 'The same in one sentence.',
      model: demoModel({ ...options, style: 'terse' }),
    },
  ]
}

/** Up to the end of the first sentence or line. */
const firstSentence = (text: string): string => /^\s*[^\n]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text

function planCall(
  call: DemoCallOptions,
  style: 'full' | 'terse',
): {
  readonly utterances: readonly DemoUtterance[]
  readonly finish: DemoFinish
  readonly calls: number
} {
  const conversation = readDemoPrompt(call.prompt)
  const title = demoTitleOf(conversation.text)
  const planned = title === undefined ? planDemoStep(conversation) : [{ text: title }]
  const utterances =
    style === 'full'
      ? planned
      : planned.map((utterance) =>
          'text' in utterance ? { text: firstSentence(utterance.text) } : utterance,
        )
  const isCut = utterances.some((utterance) => 'cutInput' in utterance)
  const hasCall = utterances.some((utterance) => 'call' in utterance)
  const unified = isCut ? 'length' : hasCall ? 'tool-calls' : 'stop'
  const finish: DemoFinish = {
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: countTokens(call.prompt, utterances),
  }
  return { utterances, finish, calls: conversation.calls }
}

/** About what a tokenizer would count, and deterministic. */
function countTokens(prompt: unknown, utterances: readonly DemoUtterance[]): DemoFinish['usage'] {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4)
  const input = tokens(prompt)
  const output = tokens(utterances)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}

type Content = Awaited<ReturnType<DemoLanguageModel['doGenerate']>>['content']

function toContent(utterances: readonly DemoUtterance[], callsBefore: number): Content {
  let calls = callsBefore
  return utterances.flatMap((utterance): Content => {
    if ('fails' in utterance) throw new Error(utterance.fails)
    if ('text' in utterance) return [{ type: 'text', text: utterance.text }]
    if ('cutInput' in utterance) return []
    const toolCallId = callIdOf(++calls)
    const input = JSON.stringify(utterance.input)
    return [{ type: 'tool-call', toolCallId, toolName: utterance.call, input }]
  })
}

const mostWords = 6

/**
 * The demo model's response to a title prompt: the first words of the first user message. Undefined: it is another
 * prompt.
 */
function demoTitleOf(prompt: string): string | undefined {
  if (!prompt.startsWith(titlePromptStart)) return undefined
  const [, question = ''] = /^(?:User|Assistant): ([^\n]*)/m.exec(prompt) ?? []
  const words = question.split(/\s+/).filter((word) => word !== '')
  const title = words
    .slice(0, mostWords)
    .join(' ')
    .replace(/[.,;:!?…]+$/u, '')
  return title === '' ? 'A short talk' : `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`
}
