import { LLMock } from '@copilotkit/aimock'
import type { LifecycleEvent } from 'holdfast'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createFixture } from '../engine/fixture.ts'
import { refuse, startModelServer, stream } from '../support/model-server.ts'
import { add, endingOf, textOf } from './number-tools.ts'
import { type Provider, providers } from './providers.ts'

const mock = new LLMock({ host: '127.0.0.1', port: 0, auth: { apiKeys: ['good-key'] } })
beforeAll(async () => {
  await mock.start()
})
afterEach(() => {
  mock.clearFixtures()
  mock.resetMatchCounts()
})
afterAll(() => mock.stop())

async function open(provider: Provider, place: { readonly url: string; readonly apiKey?: string }) {
  const model = provider.model({ apiKey: 'good-key', ...place })
  const fixture = await createFixture(() => [], { model, tools: { add }, retryDelayMs: 1 })
  onTestFinished(() => fixture.holdfast.close())
  return fixture
}

async function openServer(provider: Provider) {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  return { server, fixture: await open(provider, { url: server.url }) }
}

const retriesOf = (log: readonly LifecycleEvent[]) =>
  log.flatMap((event) =>
    event.type === 'model-retried'
      ? [{ attempt: event.attempt, delayMs: event.delayMs, code: event.code }]
      : [],
  )

describe.each(providers)('$name', (provider) => {
  const answer = stream(...provider.wire.frames([{ text: ['Here.'] }], 'stop'))
  const limited = {
    error: { message: 'Rate limit reached.', type: 'rate_limit_error' },
    status: 429,
    retryAfter: 0.02,
  }

  it('waits as long as a rate limit says, tries again, and says so in the hooks', async () => {
    mock.on({ userMessage: 'Hello', sequenceIndex: 0 }, limited)
    mock.on({ userMessage: 'Hello', sequenceIndex: 1 }, { content: 'Hi.' })
    const fixture = await open(provider, { url: mock.url })
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(textOf(turn)).toEqual(['Hi.'])
    expect(retriesOf(fixture.log)).toEqual([{ attempt: 1, delayMs: 20, code: 'rate-limited' }])
    // The attempts are one step: nothing of the first is in the ledger.
    expect(turn.steps).toHaveLength(1)
  })

  it('[ST2] fails as rate-limited when the last attempt was refused too', async () => {
    mock.on({ userMessage: 'Better now?' }, { content: 'Yes.' })
    mock.on({ userMessage: 'Hello' }, limited)
    const fixture = await open(provider, { url: mock.url })
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'rate-limited' } })
    expect(retriesOf(fixture.log)).toEqual([
      { attempt: 1, delayMs: 20, code: 'rate-limited' },
      { attempt: 2, delayMs: 20, code: 'rate-limited' },
    ])
    expect(textOf(await fixture.runTurn('Better now?'))).toEqual(['Yes.'])
  })

  it('understands retry-after-ms, and a limit that comes inside the stream', async () => {
    const { server, fixture } = await openServer(provider)
    const error = { type: 'rate_limit_error', message: 'Slow down.' }
    const begun = provider.wire.frames([], 'nothing')
    server.reply(
      refuse(429, provider.errorBody(error.type, error.message), { 'retry-after-ms': '7' }),
      stream(...begun, provider.wire.errorFrame(error)),
      answer,
    )
    expect(textOf(await fixture.runTurn('Hello'))).toEqual(['Here.'])
    expect(retriesOf(fixture.log)).toEqual([
      { attempt: 1, delayMs: 7, code: 'rate-limited' },
      { attempt: 2, delayMs: 2, code: 'rate-limited' },
    ])
  })

  it('tries again when the provider is down, and when it cannot be reached', async () => {
    const { server, fixture } = await openServer(provider)
    server.reply(
      refuse(503, provider.errorBody('overloaded_error', 'Overloaded.')),
      (response) => void response.destroy(),
      answer,
    )
    expect(textOf(await fixture.runTurn('Hello'))).toEqual(['Here.'])
    expect(retriesOf(fixture.log).map(({ code }) => code)).toEqual(['provider-down', 'network'])
  })

  it('[ST2] fails as network when nothing listens', async () => {
    const { server, fixture } = await openServer(provider)
    await server.close()
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'network' } })
    expect(retriesOf(fixture.log)).toHaveLength(2)
  })

  it('[ST2] fails at once with a bad key, and does not show it', async () => {
    mock.on({ userMessage: 'Hello' }, { content: 'Hi.' })
    const fixture = await open(provider, { url: mock.url, apiKey: 'bad-key-1234' })
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toEqual({
      kind: 'failed',
      error: {
        code: 'not-authorised',
        message: expect.stringMatching(
          /^The model’s provider rejected the API key\. \(error /,
        ) as string,
      },
    })
    expect(JSON.stringify([turn, fixture.log])).not.toContain('bad-key-1234')
    expect(retriesOf(fixture.log)).toEqual([])
  })

  it('[ST2] fails at once when the conversation is too long', async () => {
    const { error } = provider.overflow.body
    mock.on({ userMessage: 'Hello' }, { error, status: provider.overflow.status })
    const fixture = await open(provider, { url: mock.url })
    const turn = await fixture.runTurn('Hello')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'context-overflow' } })
    expect(retriesOf(fixture.log)).toEqual([])
  })

  it('[ST2] fails at once when there is nothing left to spend', async () => {
    const { server, fixture } = await openServer(provider)
    const message = 'You exceeded your current quota, please check your plan and billing details.'
    server.reply(refuse(429, provider.errorBody('insufficient_quota', message)))
    expect(endingOf(await fixture.runTurn('Hello'))).toMatchObject({
      error: { code: 'out-of-quota' },
    })
    expect(server.requests).toHaveLength(1)
  })
})
