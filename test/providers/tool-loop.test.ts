import { LLMock } from '@copilotkit/aimock'
import { callsOf } from 'holdfast'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createFixture } from '../engine/fixture.ts'
import { add, endingOf, textOf } from './number-tools.ts'
import { type Provider, providers } from './providers.ts'
import { createRecordingFetch } from './recording-fetch.ts'

const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 8 })
beforeAll(async () => {
  const usage = { input_tokens: 30, output_tokens: 9, prompt_tokens: 30, completion_tokens: 9 }
  mock.on(
    { userMessage: 'Add', hasToolResult: false },
    {
      content: 'Let me add.',
      toolCalls: [
        { id: 'call_one', name: 'add', arguments: '{"left":1,"right":2}' },
        { id: 'call_two', name: 'add', arguments: '{"left":30,"right":40}' },
      ],
      usage,
    },
  )
  mock.on({ userMessage: 'Add', hasToolResult: true }, { content: 'It is 3 and 70.', usage })
  mock.on({ userMessage: 'Thanks' }, { content: 'You are welcome.', usage })
  await mock.start()
})
afterAll(() => mock.stop())

async function open(provider: Provider) {
  const { fetch, bodies } = createRecordingFetch()
  const model = provider.model({ url: mock.url, fetch })
  const fixture = await createFixture(() => [], {
    model,
    tools: { add },
    instructions: 'Be brief.',
  })
  onTestFinished(() => fixture.holdfast.close())
  return { ...fixture, bodies }
}

describe.each(providers)('$name', (provider) => {
  it('[CL3 LG10 LG11] runs two parallel calls and answers, and keeps ids and usage', async () => {
    const fixture = await open(provider)
    const turn = await fixture.runTurn('Add 1 and 2, and 30 and 40')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(textOf(turn)).toEqual(['Let me add.', 'It is 3 and 70.'])
    expect([...callsOf(turn)]).toMatchObject([
      {
        providerCallId: 'call_one',
        state: 'succeeded',
        input: { kind: 'complete', value: { left: 1, right: 2 } },
        output: { kind: 'inline', value: { sum: 3 } },
      },
      { providerCallId: 'call_two', state: 'succeeded', output: { value: { sum: 70 } } },
    ])
    const usage = { inputTokens: 30, outputTokens: 9, totalTokens: 39 }
    expect(turn.steps).toMatchObject([
      { status: 'ended', finishReason: 'tool-calls', usage },
      { status: 'ended', finishReason: 'stop', usage },
    ])
  })

  it('[ST3 LG10] hands its own call ids back to it, each with its result', async () => {
    const fixture = await open(provider)
    await fixture.runTurn('Add 1 and 2, and 30 and 40')
    await fixture.runTurn('Thanks')
    const prompts = fixture.bodies.map(provider.readPrompt)
    expect(prompts.map(({ problems }) => problems)).toEqual([[], [], []])
    expect(prompts[1]).toMatchObject({
      calls: [
        { id: 'call_one', name: 'add', input: { left: 1, right: 2 } },
        { id: 'call_two', name: 'add', input: { left: 30, right: 40 } },
      ],
      results: [
        { id: 'call_one', text: '{"sum":3}' },
        { id: 'call_two', text: '{"sum":70}' },
      ],
    })
    expect(prompts[2]?.said.filter((line) => !/^(system|developer)/.test(line))).toEqual([
      'user: Add 1 and 2, and 30 and 40',
      'assistant: Let me add.',
      'assistant: It is 3 and 70.',
      'user: Thanks',
    ])
  })
})
