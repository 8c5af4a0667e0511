import { tool } from 'ai'
import { callsOf } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, createFixture, gate, textOf, tools } from './fixture.ts'

describe('ends', () => {
  it('[ST2] keeps what came before a provider error and closes its calls as interrupted', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? [
              { text: 'Let me see. ' },
              call(1),
              { text: 'And th' },
              { fails: new Error('overloaded') },
            ]
          : [{ text: 'fine' }],
      { tools: tools() },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({
      status: 'ended',
      ending: { kind: 'failed', error: { code: 'model-error' } },
    })
    expect(textOf(turn)).toEqual(['Let me see. ', 'And th'])
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'stream-failed' }])
    expect((await fixture.runTurn('again')).progress).toMatchObject({
      ending: { kind: 'completed' },
    })
  })

  it('[ST2] takes a stream that ends without a word for a failure', async () => {
    const fixture = await createFixture(() => [{ text: 'half an ans' }, { cut: true }])
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({
      ending: { kind: 'failed', error: { code: 'stream-cut' } },
    })
    expect(textOf(turn)).toEqual(['half an ans'])
  })

  it('[ST4] closes a call that the token limit cut off, and says so', async () => {
    const fixture = await createFixture(
      () => [
        { text: 'I will ' },
        { call: 'echo', input: { value: 'long' }, cutOff: true },
        { finish: 'length' },
      ],
      { tools: tools() },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'cut-off' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'over-limit' }])
  })

  it('[ST5] stops after the step limit and can be continued in the same message', async () => {
    const fixture = await createFixture(
      ({ index }) => (index < 5 ? [call(index)] : [{ text: 'at last' }]),
      { tools: tools(), maxSteps: 3 },
    )
    const first = await fixture.runTurn('go')
    expect(first.progress).toMatchObject({ ending: { kind: 'step-limit' } })
    expect(first.steps).toHaveLength(3)
    expect(await fixture.holdfast.continue(fixture.threadId)).toMatchObject({
      kind: 'continued',
      turnId: first.id,
    })
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(turn.id).toBe(first.id)
    expect(turn.steps).toHaveLength(6)
    expect(await fixture.holdfast.continue(fixture.threadId)).toEqual({
      kind: 'nothing-to-continue',
    })
  })

  it('[ST6] says so when calls ran and no final text came', async () => {
    const fixture = await createFixture(({ index }) => (index === 0 ? [call(1)] : []), {
      tools: tools(),
    })
    expect((await fixture.runTurn('go')).progress).toMatchObject({ ending: { kind: 'no-answer' } })
  })

  it('[ST1] stops from anywhere: keeps what came, closes calls, aborts the tools, and goes on after', async () => {
    const begun = gate()
    const told = gate<boolean>()
    const slow = tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) =>
        new Promise((_, reject) => {
          begun.open()
          abortSignal?.addEventListener('abort', () => {
            told.open(true)
            reject(new Error('aborted'))
          })
        }),
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ text: 'Working' }, { call: 'slow', input: {} }] : [{ text: 'ok' }],
      { tools: { slow } },
    )
    await fixture.send('go')
    await begun.opened
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect(await told.opened).toBe(true)
    const turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect(textOf(turn)).toEqual(['Working'])
    expect([...callsOf(turn)]).toMatchObject([{ state: 'stopped', cause: 'stopped' }])
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'idle', held: 0 })
    expect((await fixture.runTurn('again')).progress).toMatchObject({
      ending: { kind: 'completed' },
    })
  })

  it('[ST1] stops in mid-text and keeps every piece the server had received', async () => {
    const fixture = await createFixture(() => [
      { text: 'one ' },
      { text: 'two ' },
      { waitMs: 60_000 },
      { text: 'three' },
    ])
    await fixture.send('go')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && textOf(turn).join('').includes('two')
    })
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect(textOf(await fixture.last())).toEqual(['one ', 'two '])
  })

  it('tells a thread that does not exist from one that is idle', async () => {
    const fixture = await createFixture(() => [{ text: 'x' }])
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'idle', held: 0 })
    expect(await fixture.holdfast.stop('nowhere')).toEqual({ kind: 'no-thread' })
    expect(await fixture.holdfast.continue('nowhere')).toEqual({ kind: 'no-thread' })
  })
})

describe('model errors', () => {
  it('tries again before the first token, visibly, and not after it', async () => {
    let attempts = 0
    const fixture = await createFixture(({ index }) => {
      attempts++
      return index < 2
        ? [{ fails: Object.assign(new Error('busy'), { statusCode: 429 }) }]
        : [{ text: 'ok' }]
    })
    expect((await fixture.runTurn('go')).progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(attempts).toBe(3)
    const retries = fixture.log.filter(({ type }) => type === 'model-retried')
    expect(retries).toMatchObject([
      { attempt: 1, code: 'rate-limited' },
      { attempt: 2, code: 'rate-limited' },
    ])
  })

  it.each([
    ['rate-limited', Object.assign(new Error('slow down'), { statusCode: 429 })],
    ['provider-down', Object.assign(new Error('oops'), { statusCode: 503 })],
    ['not-authorised', Object.assign(new Error('bad key'), { statusCode: 401 })],
    ['context-overflow', new Error("This model's maximum context length is 8192 tokens")],
    ['network', Object.assign(new Error('fetch failed'), { cause: new Error('ECONNREFUSED') })],
    ['model-error', new Error('something else')],
  ])('tells a failure of kind %s', async (code, error) => {
    const fixture = await createFixture(() => [{ fails: error }])
    const { progress } = await fixture.runTurn('go')
    expect(progress).toMatchObject({ ending: { kind: 'failed', error: { code } } })
    const retried = fixture.log.some(({ type }) => type === 'model-retried')
    expect(retried).toBe(['rate-limited', 'provider-down', 'network'].includes(code))
  })
})
