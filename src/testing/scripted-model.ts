import type { LanguageModel } from 'ai'
import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  having,
  type OptionTable,
  text,
} from '../core/check-options.ts'
import { systemClock, wait } from '../engine/clock.ts'
import type { Clock } from '../engine/clock.ts'
import type { Json } from '../core/json.ts'
import { checkScript } from './check-script.ts'

/** One part of what a scripted model does in a step. Without a `finish`, a step ends as `tool-calls` or `stop`. */
export type ScriptPart =
  /** Streamed in this many deltas, with a pause before the last one. @default pieces: 1, and no pause */
  | { readonly text: string; readonly pieces?: number; readonly pauseMs?: number }
  | { readonly reasoning: string }
  | {
      readonly call: string
      readonly input: Json
      /** The provider's own id; without it, one that differs in every step. */
      readonly id?: string
      /** Argument text as it is streamed, if it is not the JSON of `input`. */
      readonly inputText?: string
      /** Streams the arguments in pieces before the complete call. */
      readonly streamed?: boolean
      /** A pause between the two halves of its arguments. */
      readonly pauseMs?: number
      /** The arguments never become complete. */
      readonly cutOff?: boolean
      /** The provider executes the call itself, and this is its result. */
      readonly providerResult?: Json
    }
  | { readonly waitMs: number }
  /** The stream throws this. */
  | { readonly fails: unknown }
  /** The stream ends without a finish. */
  | { readonly cut: true }
  | { readonly finish: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other' }

/** One call of a scripted model. */
export interface ScriptedCall {
  /** How many times the model was called before. */
  readonly index: number
  /** The prompt that the engine sent. */
  readonly prompt: readonly PromptMessage[]
}

/** A message of a prompt, in the AI SDK's provider format. */
export interface PromptMessage {
  readonly role: string
  readonly content: unknown
}

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** The clock of the pauses. @default the system clock */
  readonly clock?: Clock
  /** @default 'scripted' */
  readonly modelId?: string
  /** Called before anything is streamed; may throw as a provider does. @default none */
  readonly onCall?: (call: ScriptedCall) => void
}

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }
type StreamResult = Awaited<ReturnType<Model['doStream']>>
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
}

const modelRules: OptionTable<ScriptedModelOptions> = {
  clock: having('a clock with now, after and soon', ['now', 'after', 'soon'], 'the system’s'),
  modelId: text('"scripted"'),
  onCall: callback('none'),
}

/**
 * A model without a network: what it streams is a function of the number of its calls and of the prompt. It only
 * streams; `doGenerate` rejects. A part that is none fails the turn as `bad-option`, before anything of its step is
 * streamed.
 * @example
 * const model = scriptedModel(({ index }) =>
 *   index === 0 ? [{ call: 'get_weather', input: { city: 'Paris' } }] : [{ text: 'Sunny.' }],
 * )
 */
export function scriptedModel(
  script: (call: ScriptedCall) => readonly ScriptPart[],
  options: ScriptedModelOptions = {},
): LanguageModel {
  const given: unknown = script
  if (typeof given !== 'function') {
    const what = describeValue(given)
    throw badOption(
      `scriptedModel takes a function that returns the parts of a step, such as () => [{ text: 'Hello.' }], not ${what}.`,
    )
  }
  checkOptions('scriptedModel', options, modelRules)
  const clock = options.clock ?? systemClock
  let calls = 0
  const model: Model = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: options.modelId ?? 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('A scripted model only streams.')),
    async doStream({ prompt, abortSignal }) {
      const call = { index: calls++, prompt: prompt as readonly PromptMessage[] }
      options.onCall?.(call)
      const step = script(call)
      checkScript(step, call.index)
      return { stream: toStream(play(step, call.index, clock, abortSignal), abortSignal) }
    },
  }
  return model
}

async function* play(
  script: readonly ScriptPart[],
  index: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  let called = false
  for (const [place, part] of script.entries()) {
    const id = `${index}-${place}`
    if ('waitMs' in part) await wait(clock, part.waitMs, signal)
    else if ('fails' in part) throw part.fails
    else if ('cut' in part) return
    else if ('text' in part) {
      const pieces = [...block('text', id, part.text, part.pieces ?? 1)]
      yield* pieces.slice(0, -2)
      if (part.pauseMs !== undefined) await wait(clock, part.pauseMs, signal)
      yield* pieces.slice(-2)
    } else if ('reasoning' in part) yield* block('reasoning', id, part.reasoning, 1)
    else if ('call' in part) {
      called = true
      yield* playCall(part, id, (ms) => wait(clock, ms, signal))
    } else {
      yield finish(part.finish)
      return
    }
  }
  yield finish(called ? 'tool-calls' : 'stop')
}

const finish = (
  unified: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other',
): StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage,
})

function* block(
  kind: 'text' | 'reasoning',
  id: string,
  text: string,
  pieces: number,
): Generator<StreamPart> {
  yield { type: `${kind}-start`, id }
  const size = Math.max(1, Math.ceil(text.length / pieces))
  for (let at = 0; at < text.length; at += size) {
    yield { type: `${kind}-delta`, id, delta: text.slice(at, at + size) }
  }
  yield { type: `${kind}-end`, id }
}

async function* playCall(
  part: Extract<ScriptPart, { readonly call: string }>,
  place: string,
  pause: (ms: number) => Promise<void>,
): AsyncGenerator<StreamPart> {
  const { call: toolName, cutOff, providerResult } = part
  const toolCallId = part.id ?? `provider-${place}`
  const input = part.inputText ?? JSON.stringify(part.input)
  if (part.streamed === true || cutOff === true) {
    yield { type: 'tool-input-start', id: toolCallId, toolName }
    const half = Math.ceil(input.length / 2)
    yield { type: 'tool-input-delta', id: toolCallId, delta: input.slice(0, half) }
    if (cutOff === true) return
    if (part.pauseMs !== undefined) await pause(part.pauseMs)
    yield { type: 'tool-input-delta', id: toolCallId, delta: input.slice(half) }
    yield { type: 'tool-input-end', id: toolCallId }
  }
  const providerExecuted = providerResult !== undefined
  yield {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    ...(providerExecuted ? { providerExecuted, dynamic: true } : {}),
  }
  if (providerResult !== undefined) {
    yield {
      type: 'tool-result',
      toolCallId,
      toolName,
      result: providerResult as never,
      dynamic: true,
    }
  }
}

function toStream(
  parts: AsyncGenerator<StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<StreamPart> {
  return new ReadableStream({
    async pull(controller) {
      if (signal?.aborted === true) {
        controller.error(signal.reason)
        return
      }
      const next = await parts.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
