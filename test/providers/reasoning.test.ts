import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { LLMock } from '@copilotkit/aimock'
import type { LanguageModel } from 'ai'
import type { HoldfastOptions } from 'holdfast'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createFixture } from '../engine/fixture.ts'
import { startModelServer, stream } from '../support/model-server.ts'
import { add, endingOf } from './number-tools.ts'
import { readMessagesPrompt } from './read-messages-prompt.ts'
import { readResponsesPrompt } from './read-responses-prompt.ts'
import { createRecordingFetch } from './recording-fetch.ts'
import { namedFrame } from './wire.ts'

const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 6 })
beforeAll(async () => {
  mock.on(
    { userMessage: 'Add', hasToolResult: false },
    {
      reasoning: 'I should add them.',
      reasoningSignature: 'signed-by-the-model',
      redactedThinking: ['hidden-thought'],
      content: 'Adding.',
      toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"left":1,"right":2}' }],
    },
  )
  mock.on({ userMessage: 'Add', hasToolResult: true }, { content: 'Three.' })
  mock.on({ userMessage: 'Thanks' }, { content: 'Welcome.' })
  await mock.start()
})
afterAll(() => mock.stop())

async function converse(
  connect: (place: { baseURL: string; apiKey: string; fetch: typeof fetch }) => LanguageModel,
  options: Partial<HoldfastOptions> = {},
) {
  const { fetch, bodies } = createRecordingFetch()
  const model = connect({ baseURL: `${mock.url}/v1`, apiKey: 'key', fetch })
  const fixture = await createFixture(() => [], { model, tools: { add }, ...options })
  onTestFinished(() => fixture.holdfast.close())
  const turn = await fixture.runTurn('Add 1 and 2')
  expect(endingOf(turn)).toEqual({ kind: 'completed' })
  await fixture.runTurn('Thanks')
  return { turn, bodies }
}

describe('anthropic thinking', () => {
  it('[ST3] goes back with its signature, on the next step and in the next turn', async () => {
    const { turn, bodies } = await converse((place) => createAnthropic(place)('claude-sonnet-4-5'))
    expect(turn.steps[0]?.parts.filter(({ type }) => type === 'reasoning')).toMatchObject([
      { text: '', providerMetadata: { anthropic: { redactedData: 'hidden-thought' } } },
      {
        text: 'I should add them.',
        providerMetadata: { anthropic: { signature: 'signed-by-the-model' } },
      },
    ])
    expect(bodies.flatMap((body) => readMessagesPrompt(body).problems)).toEqual([])
    for (const body of bodies.slice(1)) {
      const { messages } = body as { messages: readonly { content: unknown }[] }
      expect(messages[1]?.content).toMatchObject([
        { type: 'redacted_thinking', data: 'hidden-thought' },
        { type: 'thinking', thinking: 'I should add them.', signature: 'signed-by-the-model' },
        { type: 'text', text: 'Adding.' },
        { type: 'tool_use', id: 'call_1' },
      ])
    }
  })

  it('[ST3] is left out where it broke off before it was signed', async () => {
    const server = await startModelServer()
    onTestFinished(() => server.close())
    const message = { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } }
    const begin = namedFrame({ type: 'message_start', message })
    const block = (index: number, content_block: object, delta: object) => [
      namedFrame({ type: 'content_block_start', index, content_block }),
      namedFrame({ type: 'content_block_delta', index, delta }),
    ]
    const stopped = { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }
    server.reply(
      stream(
        begin,
        ...block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'Hm' }),
        namedFrame({ type: 'error', error: { type: 'api_error', message: 'Internal.' } }),
      ),
      stream(
        begin,
        ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Fine.' }),
        namedFrame({ type: 'content_block_stop', index: 0 }),
        namedFrame({ type: 'message_delta', ...stopped }),
        namedFrame({ type: 'message_stop' }),
      ),
    )
    const model = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'key' })('claude')
    const fixture = await createFixture(() => [], { model })
    onTestFinished(() => fixture.holdfast.close())
    const turn = await fixture.runTurn('Think')
    expect(endingOf(turn)).toMatchObject({ error: { code: 'provider-down' } })
    expect(turn.steps[0]?.parts).toMatchObject([{ type: 'custom' }, { text: 'Hm' }])
    expect(endingOf(await fixture.runTurn('And now?'))).toEqual({ kind: 'completed' })
    expect(readMessagesPrompt(server.requests[1]?.body)).toMatchObject({
      said: ['user: Think', 'user: And now?'],
      problems: [],
    })
  })
})

describe('openai reasoning items', () => {
  const connect = (place: Parameters<typeof createOpenAI>[0]) =>
    createOpenAI(place).responses('gpt-5')
  const itemsOf = (body: unknown) => (body as { input: readonly { type?: string }[] }).input

  it('[ST3] are referred to where the provider stores them', async () => {
    const { turn, bodies } = await converse(connect)
    const reasoning = turn.steps[0]?.parts.find(({ type }) => type === 'reasoning')
    const itemId = /"itemId":"([^"]+)"/.exec(JSON.stringify(reasoning))?.[1]
    expect(itemId).toMatch(/^rs/)
    expect(bodies.flatMap((body) => readResponsesPrompt(body).problems)).toEqual([])
    for (const body of bodies.slice(1)) {
      const items = itemsOf(body)
      const at = items.findIndex((item) => 'id' in item && item.id === itemId)
      expect(items[at]).toEqual({ type: 'item_reference', id: itemId })
      expect(at).toBeLessThan(items.findIndex(({ type }) => type === 'function_call'))
    }
  })

  it('[ST3] go back whole and encrypted where the provider keeps nothing', async () => {
    const { bodies } = await converse(connect, {
      settings: {
        providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
      },
    })
    expect(bodies.flatMap((body) => readResponsesPrompt(body).problems)).toEqual([])
    for (const body of bodies.slice(1)) {
      const items = itemsOf(body)
      expect(items.filter(({ type }) => type === 'item_reference')).toEqual([])
      expect(items.filter(({ type }) => type === 'reasoning')[0]).toMatchObject({
        type: 'reasoning',
        encrypted_content: expect.stringMatching(/./) as string,
        summary: [{ type: 'summary_text', text: 'I should add them.' }],
      })
    }
  })
})
