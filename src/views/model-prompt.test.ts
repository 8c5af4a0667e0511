import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  experimental_streamLanguageModelCall as streamCall,
  type LanguageModel,
  type ModelMessage as SdkMessage,
} from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { isJsonObject } from '../core/json.ts'
import { isTurn } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { findPromptProblem } from '../../test/support/prompt-problem.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import type { ModelMessage } from './model-message.ts'
import { projectPrompt } from './model-prompt.ts'

const threads = Array.from({ length: 400 }, (_, seed) =>
  messagesOf(randomLedger(seed, { shape: seed % 2 === 0 ? 'crashed' : 'any' })),
)

async function send(model: LanguageModel, prompt: readonly ModelMessage[]): Promise<void> {
  const messages = structuredClone(prompt) as SdkMessage[]
  const { stream } = await streamCall({ model, messages, allowSystemInMessages: true })
  for await (const part of stream) if (part.type === 'error') throw part.error
}

describe('projectPrompt, on random ledgers', () => {
  test('[ST3] is valid whatever a crash left behind', () => {
    for (const [seed, messages] of threads.entries()) {
      expect([seed, findPromptProblem(projectPrompt(messages))]).toEqual([seed, undefined])
    }
  })

  test('[ST3] contains every call of a step that was not abandoned, once', () => {
    let count = 0
    for (const messages of threads) {
      const calls = messages.filter(isTurn).flatMap(({ steps }) =>
        steps
          .filter(({ status }) => status !== 'abandoned')
          .flatMap(({ parts }) => parts)
          .filter((part) => part.type === 'call' && !part.providerExecuted),
      )
      const results = projectPrompt(messages).flatMap((message) =>
        message.role === 'tool' ? message.content : [],
      )
      expect(results.length).toBeGreaterThanOrEqual(calls.length)
      count += results.length
    }
    expect(count).toBeGreaterThan(1000)
  })

  test('[ST3] is accepted by the SDK', async () => {
    const model = new MockLanguageModelV4({
      doStream: () =>
        Promise.resolve({
          stream: new ReadableStream({ start: (controller) => controller.close() }),
        }),
    })
    for (const messages of threads.slice(0, 200)) {
      const prompt = projectPrompt(messages)
      if (prompt.length > 0) await send(model, prompt)
    }
    expect(model.doStreamCalls.length).toBeGreaterThan(150)
  })

  test('[ST3] is what Anthropic and OpenAI-compatible servers accept', async () => {
    const bodies: unknown[] = []
    const capture: typeof fetch = (_, init) => {
      bodies.push(JSON.parse(init?.body as string))
      return Promise.resolve(new Response('{}', { status: 400 }))
    }
    const anthropic = createAnthropic({ apiKey: 'none', fetch: capture })('claude-sonnet-4-5')
    const compatible = createOpenAICompatible({
      name: 'demo',
      baseURL: 'http://localhost',
      fetch: capture,
    })('any')
    for (const messages of threads.slice(0, 200)) {
      const prompt = withoutProviderCalls(projectPrompt(messages))
      if (prompt.length === 0) continue
      await expect(send(anthropic, prompt)).rejects.toMatchObject({ statusCode: 400 })
      expect(findAnthropicProblem(bodies.at(-1) as AnthropicBody)).toBeUndefined()
      await expect(send(compatible, prompt)).rejects.toMatchObject({ statusCode: 400 })
      expect(findChatProblem(bodies.at(-1) as ChatBody)).toBeUndefined()
    }
    expect(bodies.length).toBeGreaterThan(200)
  })
})

/**
 * A provider refuses provider-executed calls of tools that it does not have, such as those of the random
 * ledger.
 */
const withoutProviderCalls = (prompt: readonly ModelMessage[]): readonly ModelMessage[] =>
  prompt.some(
    (message) =>
      message.role === 'assistant' &&
      message.content.some((part) => part.type === 'tool-call' && part.providerExecuted),
  )
    ? []
    : prompt

interface AnthropicBody {
  readonly messages: readonly {
    readonly role: string
    readonly content: readonly {
      readonly type: string
      readonly text?: string
      readonly id?: string
      readonly input?: unknown
      readonly tool_use_id?: string
    }[]
  }[]
}

function findAnthropicProblem({ messages }: AnthropicBody): string | undefined {
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) return `${index}: ${role}`
    if (content.length === 0) return `${index}: empty`
    if (content.some(({ type, text }) => type === 'text' && text?.trim() === '')) return 'blank'
    const uses = content.filter(({ type }) => type === 'tool_use')
    if (uses.some(({ input }) => !isJsonObject(input))) return `${index}: input`
    const results = messages[index + 1]?.content.filter(({ type }) => type === 'tool_result') ?? []
    const used = uses.map(({ id }) => id).join()
    if (role === 'assistant' && used !== results.map((part) => part.tool_use_id).join()) {
      return `${index}: ${used}`
    }
  }
  return undefined
}

interface ChatBody {
  readonly messages: readonly {
    readonly role: string
    readonly content: unknown
    readonly tool_calls?: readonly {
      readonly id: string
      readonly function: { readonly arguments: string }
    }[]
    readonly tool_call_id?: string
  }[]
}

function findChatProblem({ messages }: ChatBody): string | undefined {
  let waiting: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (waiting.shift() !== message.tool_call_id) return `${index}: a result of nothing`
      if (typeof message.content !== 'string') return `${index}: no text`
      continue
    }
    if (waiting.length > 0) return `${index}: ${waiting.join()} without result`
    for (const call of message.tool_calls ?? []) JSON.parse(call.function.arguments)
    waiting = (message.tool_calls ?? []).map(({ id }) => id)
    const isEmpty = message.content === '' || message.content === null
    if (isEmpty && waiting.length === 0) return `${index}: empty`
  }
  return waiting.length === 0 ? undefined : 'calls at the end without result'
}
