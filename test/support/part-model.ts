import type { LanguageModel } from 'ai'

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }
type Stream = Awaited<ReturnType<Model['doStream']>>['stream']
/** What a provider says, word by word. */
export type ProviderPart = Stream extends ReadableStream<infer Part> ? Part : never
export type ProviderPrompt = Parameters<Model['doStream']>[0]['prompt']

/** A model that says exactly these parts, one list for each time it is called, and keeps what it was sent. */
export function partModel(...steps: readonly (readonly ProviderPart[])[]): {
  readonly model: LanguageModel
  readonly prompts: readonly ProviderPrompt[]
} {
  const prompts: ProviderPrompt[] = []
  const model: Model = {
    specificationVersion: 'v4',
    provider: 'parts',
    modelId: 'parts',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('It only streams.')),
    doStream({ prompt }) {
      const parts = steps[prompts.length] ?? []
      prompts.push(prompt)
      return Promise.resolve({ stream: toStream(parts) })
    },
  }
  return { model, prompts }
}

const toStream = (parts: readonly ProviderPart[]): Stream =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })

/** A provider's own call. */
export const providerCall = (toolCallId: string, toolName = 'search'): ProviderPart => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: '{"q":"x"}',
  providerExecuted: true,
})
/** What came of it, or with `preliminary` what there is of it so far. */
export const providerResult = (
  toolCallId: string,
  result: string | { readonly [key: string]: string },
  more: { readonly preliminary?: true; readonly isError?: true } = {},
  toolName = 'search',
): ProviderPart => ({ type: 'tool-result', toolCallId, toolName, result, ...more })
export const textParts = (text: string, id = 'text'): readonly ProviderPart[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta: text },
  { type: 'text-end', id },
]
export const finish = (unified: 'stop' | 'tool-calls' | 'length' = 'stop'): ProviderPart => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  },
})
