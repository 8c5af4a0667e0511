import { callsOf } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFixture, gate } from '../engine/fixture.ts'
import { type Reply, startModelServer, stream, streamAndBreak } from '../support/model-server.ts'
import { add, bare, endingOf, outcomesOf, textOf } from './number-tools.ts'
import { type Provider, providers } from './providers.ts'
import { malformedFrame, type WireItem } from './wire.ts'

/** A model server that first does something wrong, and then answers. */
async function open(provider: Provider, ...replies: readonly Reply[]) {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  const answer = stream(...provider.wire.frames([{ text: ['All ', 'good.'] }], 'stop'))
  server.reply(...replies, answer)
  const model = provider.model({ url: server.url })
  const fixture = await createFixture(() => [], { model, tools: { add, bare } })
  onTestFinished(() => fixture.holdfast.close())
  /** The next message is answered, and its prompt is one that the API accepts. */
  const goesOn = async () => {
    expect(endingOf(await fixture.runTurn('Still there?'))).toEqual({ kind: 'completed' })
    const prompt = provider.readPrompt(server.requests.at(-1)?.body)
    expect(prompt.problems).toEqual([])
    return prompt
  }
  return { ...fixture, server, goesOn }
}

const said = { text: ['Let me ', 'see. '] } as const
const whole = { call: { id: 'call_1', name: 'add', input: ['{"left":1,', '"right":2}'] } } as const
const half = { call: { id: 'call_2', name: 'add', input: ['{"left":'] }, open: true } as const

describe.each(providers)('$name', (provider) => {
  const frames = (...items: readonly WireItem[]) => provider.wire.frames(items, 'nothing')

  it('[ST2 ST3] keeps what came before an error in mid-stream and closes its calls', async () => {
    const error = provider.wire.errorFrame({ type: 'server_error', message: 'It broke.' })
    const fixture = await open(provider, stream(...frames(said, whole, half), error))
    const turn = await fixture.runTurn('Add 1 and 2')
    const ending = endingOf(turn)
    expect(ending).toMatchObject({ kind: 'failed' })
    expect(fixture.log.find(({ type }) => type === 'failed')).toMatchObject({
      message: expect.stringContaining('It broke.') as string,
    })
    expect(textOf(turn)).toEqual(['Let me see. '])
    expect(outcomesOf(turn)).toEqual(Array(2).fill('interrupted: stream-failed'))
    expect(fixture.server.requests).toHaveLength(1)
    const { calls, results, said: lines } = await fixture.goesOn()
    expect(calls.map(({ id }) => id)).toEqual(['call_1', 'call_2'])
    for (const { text } of results) expect(text).toContain('did not run')
    expect(lines).toEqual(['user: Add 1 and 2', 'assistant: Let me see. ', 'user: Still there?'])
  })

  it('[ST2] reports the kind of an error in mid-stream, and does not try again', async () => {
    const fixture = await open(
      provider,
      stream(
        ...frames({ text: ['Well, '], open: true }),
        provider.wire.errorFrame({ type: 'rate_limit_error', message: 'Slow down.' }),
      ),
    )
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toMatchObject({ error: { code: 'rate-limited' } })
    expect(textOf(turn)).toEqual(['Well, '])
    expect(fixture.server.requests).toHaveLength(1)
  })

  it('[ST2] takes a connection that breaks in mid-text for what it is', async () => {
    const shown = gate()
    const fixture = await open(
      provider,
      streamAndBreak(frames({ text: ['Once upon ', 'a ti'], open: true }), shown.opened),
    )
    await fixture.send('Tell me a story')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && textOf(turn).join('').endsWith('a ti')
    })
    shown.open()
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'stream-cut' } })
    expect(textOf(turn)).toEqual(['Once upon a ti'])
    await fixture.goesOn()
  })

  it('[ST2] takes a stream that ends well, but too early, for a failure too', async () => {
    const fixture = await open(provider, stream(...frames({ text: ['Once upon '], open: true })))
    const turn = await fixture.runTurn('Tell me a story')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'stream-cut' } })
    expect(textOf(turn)).toEqual(['Once upon '])
    await fixture.goesOn()
  })

  it('[ST2 CL3] runs no call of a stream that broke off', async () => {
    const fixture = await open(provider, stream(...frames(said, whole, half)))
    const turn = await fixture.runTurn('Add 1 and 2')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'stream-cut' } })
    expect(outcomesOf(turn)).toEqual(Array(2).fill('interrupted: stream-failed'))
    expect([...callsOf(turn)].every((call) => call.startedAt === undefined)).toBe(true)
    expect((await fixture.goesOn()).calls).toHaveLength(2)
  })

  it('[ST2] ends the turn at a chunk that cannot be read', async () => {
    const fixture = await open(
      provider,
      stream(...frames(said), malformedFrame, ...provider.wire.frames([said], 'stop').slice(1)),
    )
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'bad-response' } })
    expect(textOf(turn)).toEqual(['Let me see. '])
    await fixture.goesOn()
  })

  it('[ST4 ST3] closes a call that the token limit cut off in its arguments', async () => {
    const cut = provider.wire.frames([said, whole, half], 'length')
    const fixture = await open(provider, stream(...cut))
    const turn = await fixture.runTurn('Add a lot')
    expect(endingOf(turn)).toEqual({ kind: 'cut-off' })
    expect(outcomesOf(turn).at(-1)).toBe('interrupted: over-limit')
    expect(turn.steps).toMatchObject([{ finishReason: 'length', usage: { outputTokens: 7 } }])
    await fixture.goesOn()
  })

  it.each([
    ['in the middle', ['{"left":']],
    ['before they began', []],
  ])('[ST4 CL6] runs no call when the limit cut its arguments off %s', async (_, input) => {
    // The API closes the block all the same, and empty arguments would be good ones.
    const cut = provider.wire.frames([said, { call: { id: 'c', name: 'bare', input } }], 'length')
    const fixture = await open(provider, stream(...cut))
    const turn = await fixture.runTurn('Do it')
    expect(endingOf(turn)).toEqual({ kind: 'cut-off' })
    expect(outcomesOf(turn)).toEqual(['interrupted: over-limit'])
    await fixture.goesOn()
  })

  it('[CL7] runs a call without arguments when the stream ended as it should', async () => {
    const calls = provider.wire.frames(
      [{ call: { id: 'c', name: 'bare', input: [] } }],
      'tool-calls',
    )
    const fixture = await open(provider, stream(...calls))
    expect(outcomesOf(await fixture.runTurn('Do it'))).toEqual(['succeeded'])
  })

  it('[LG10 ST3] keeps two calls apart that came with one id', async () => {
    const twin = { call: { id: 'same', name: 'bare', input: [] } }
    const calls = provider.wire.frames([twin, twin], 'tool-calls')
    const fixture = await open(provider, stream(...calls))
    expect(outcomesOf(await fixture.runTurn('Do it twice'))).toEqual(['succeeded', 'succeeded'])
    expect(provider.readPrompt(fixture.server.requests[1]?.body)).toMatchObject({
      results: [{ text: 'done' }, { text: 'done' }],
      problems: [],
    })
  })

  it('tries again when the stream ended before it had said anything', async () => {
    const fixture = await open(provider, stream(...frames()), stream())
    expect(textOf(await fixture.runTurn('Hello'))).toEqual(['All good.'])
    const retries = fixture.log.filter(({ type }) => type === 'model-retried')
    expect(retries).toMatchObject([{ code: 'stream-cut' }, { code: 'stream-cut' }])
  })
})
