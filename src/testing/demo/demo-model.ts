import type { LanguageModel } from 'ai'
import { type Clock, systemClock } from '../../engine/clock.ts'
import { planDemoStep } from './demo-plan.ts'
import { type DemoCallOptions, type DemoLanguageModel, readDemoPrompt } from './demo-prompt.ts'
import { callIdOf, type DemoFinish, type DemoSaying, speak, toStream } from './demo-stream.ts'

export interface DemoModelOptions {
  readonly clock?: Clock
  /** The pause before each piece of text or arguments. */
  readonly delayMs?: number
}

/**
 * A model that needs no network. What it does follows from the prompt alone: the same message after
 * the same history gives the same stream. It understands the phrases of `demo-phrases.ts` and talks
 * about anything else.
 */
export function demoModel(options: DemoModelOptions = {}): LanguageModel {
  const { clock = systemClock, delayMs = 20 } = options
  const model: DemoLanguageModel = {
    specificationVersion: 'v4',
    provider: 'holdfast',
    modelId: 'demo',
    supportedUrls: {},

    async doStream(call) {
      const { sayings, finish, calls } = think(call)
      const signal = call.abortSignal
      return { stream: toStream(speak(sayings, calls, finish, { clock, delayMs, signal }), signal) }
    },

    async doGenerate(call) {
      const { sayings, finish, calls } = think(call)
      const content = toContent(sayings, calls)
      const { finishReason, usage } = finish
      return { content, finishReason, usage, warnings: [] }
    },
  }
  return model
}

function think(call: DemoCallOptions): {
  readonly sayings: readonly DemoSaying[]
  readonly finish: DemoFinish
  readonly calls: number
} {
  const conversation = readDemoPrompt(call.prompt)
  const sayings = planDemoStep(conversation)
  const isCut = sayings.some((saying) => 'cutInput' in saying)
  const hasCall = sayings.some((saying) => 'call' in saying)
  const unified = isCut ? 'length' : hasCall ? 'tool-calls' : 'stop'
  const finish: DemoFinish = {
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: countTokens(call.prompt, sayings),
  }
  return { sayings, finish, calls: conversation.calls }
}

/** About what a tokenizer would say, and the same every time. */
function countTokens(prompt: unknown, sayings: readonly DemoSaying[]): DemoFinish['usage'] {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4)
  const input = tokens(prompt)
  const output = tokens(sayings)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}

type Content = Awaited<ReturnType<DemoLanguageModel['doGenerate']>>['content']

function toContent(sayings: readonly DemoSaying[], callsBefore: number): Content {
  let calls = callsBefore
  return sayings.flatMap((saying): Content => {
    if ('fails' in saying) throw new Error(saying.fails)
    if ('text' in saying) return [{ type: 'text', text: saying.text }]
    if ('cutInput' in saying) return []
    const toolCallId = callIdOf(++calls)
    const input = JSON.stringify(saying.input)
    return [{ type: 'tool-call', toolCallId, toolName: saying.call, input }]
  })
}
