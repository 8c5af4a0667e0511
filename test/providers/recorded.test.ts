import { streamText } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFixture, messageId } from '../engine/fixture.ts'
import { startModelServer, stream } from '../support/model-server.ts'
import { endingOf, textOf } from './number-tools.ts'
import { providers } from './providers.ts'

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
