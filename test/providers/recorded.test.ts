import { createOpenAI } from '@ai-sdk/openai'
import { streamText } from 'ai'
import { callsOf } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFixture, messageId } from '../engine/fixture.ts'
import { startModelServer, stream } from '../support/model-server.ts'
import { endingOf, textOf } from './number-tools.ts'
import { providers } from './providers.ts'
import { namedFrame } from './wire.ts'

describe.each(providers)('$name, recorded from a streamText of the host', (provider) => {
  it.each([
    ['whole', 'stop', { kind: 'completed' }],
    ['cut off by the network', 'nothing', { kind: 'failed', error: { code: 'stream-cut' } }],
    ['cut off by the token limit', 'length', { kind: 'cut-off' }],
  ] as const)('[ST2 ST4] tells how a stream ended: %s', async (_, ending, expected) => {
    const server = await startModelServer()
    onTestFinished(() => server.close())
    server.reply(stream(...provider.wire.frames([{ text: ['Once upon '] }], ending)))
    const fixture = await createFixture(() => [])
    onTestFinished(() => fixture.holdfast.close())
    const result = streamText({
      model: provider.model({ url: server.url }),
      prompt: 'Tell me a story',
      maxRetries: 0,
      onError: () => {},
    })
    const recording = await fixture.holdfast.record(result.stream, {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'Tell me a story' }] },
    })
    if (recording.kind === 'recording') await recording.done
    const turn = await fixture.last()
    expect(endingOf(turn)).toMatchObject(expected)
    expect(textOf(turn)).toEqual(['Once upon '])
  })
})

describe('an image that OpenAI draws in pieces, recorded from a streamText of the host', () => {
  it('[CL10 CL12] is the last piece, although the SDK does not say which ones are rough', async () => {
    const server = await startModelServer()
    onTestFinished(() => server.close())
    const item = { type: 'image_generation_call', id: 'ig_1' }
    const response = { id: 'resp_1', created_at: 1, model: 'gpt-5', output: [] }
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
    }
    const rough = {
      type: 'response.image_generation_call.partial_image',
      item_id: 'ig_1',
      output_index: 0,
      partial_image_index: 0,
      partial_image_b64: 'cm91Z2g=',
    }
    const events = [
      { type: 'response.created', response },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'generating' },
      },
      rough,
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', result: 'd2hvbGU=' },
      },
      { type: 'response.completed', response: { ...response, usage } },
    ]
    server.reply(stream(...events.map(namedFrame)))
    const fixture = await createFixture(() => [])
    onTestFinished(() => fixture.holdfast.close())
    const openai = createOpenAI({ apiKey: 'key', baseURL: `${server.url}/v1` })
    const result = streamText({
      model: openai.responses('gpt-5'),
      tools: { image_generation: openai.tools.imageGeneration({ partialImages: 1 }) },
      prompt: 'Draw',
      maxRetries: 0,
    })
    const recording = await fixture.holdfast.record(result.stream, {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'Draw' }] },
    })
    if (recording.kind === 'recording') await recording.done
    expect([...callsOf(await fixture.last())]).toMatchObject([
      { state: 'succeeded', output: { value: { result: 'd2hvbGU=' } } },
    ])
    expect(fixture.holdfast.metrics().ignoredEnds).toBe(0)
  })
})
