import { tool } from 'ai'
import { callsOf, totalsOf } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, createFixture, gate, statesOf, textOf, tools } from './fixture.ts'

describe('a turn', () => {
  it('[LG6 CL3] stores the message, calls the model, runs the tool and answers', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ text: 'Looking.' }, call('hello')] : [{ text: 'It said hello.' }],
      { tools: tools() },
    )
    const turn = await fixture.runTurn('Echo hello')
    expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'completed' } })
    expect(textOf(turn)).toEqual(['Looking.', 'It said hello.'])
    expect([...callsOf(turn)]).toMatchObject([
      { name: 'echo', state: 'succeeded', output: { kind: 'inline', value: 'hello' } },
    ])
    expect((await fixture.messages()).map(({ role }) => role)).toEqual(['user', 'assistant'])
    // The second call of the model was sent the result.
    expect(JSON.stringify(fixture.calls[1]?.prompt)).toContain('"hello"')
  })

  it('[LG11] keeps model, finish reason, usage and time of each step, and adds them up', async () => {
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [call(1)] : [{ text: 'done' }]),
      { tools: tools() },
    )
    const turn = await fixture.runTurn('go')
    const { steps } = turn
    expect(steps).toMatchObject([
      {
        model: 'scripted',
        finishReason: 'tool-calls',
        usage: { inputTokens: 10, outputTokens: 5 },
      },
      { model: 'scripted', finishReason: 'stop', usage: { totalTokens: 15 } },
    ])
    for (const step of steps) {
      expect(step.status === 'ended' && step.endedAt >= step.startedAt).toBe(true)
    }
    const usage = { inputTokens: 20, outputTokens: 10, totalTokens: 30 }
    const totals = { steps: 2, models: ['scripted'], usage, modelMs: expect.any(Number) as number }
    expect(totalsOf(turn)).toEqual(totals)
    expect(fixture.log.find(({ type }) => type === 'turn-ended')).toMatchObject({ totals })
  })

  it('[CL4] runs calls of one step at once, up to a limit, and commits each result as it comes', async () => {
    const release = [gate(), gate(), gate(), gate()]
    let running = 0
    let most = 0
    const slow = tool({
      inputSchema: z.object({ n: z.number() }),
      async execute({ n }) {
        most = Math.max(most, ++running)
        await release[n]?.opened
        running--
        return n
      },
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? [0, 1, 2, 3].map((n) => ({ call: 'slow', input: { n } }))
          : [{ text: 'all done' }],
      { tools: { slow }, toolConcurrency: 2 },
    )
    await fixture.send('go')
    // The second call overtakes the first; the third takes its place.
    release[1]?.open()
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      if (turn?.role !== 'assistant') return false
      return statesOf(turn).join() === 'running,succeeded,running,ready'
    })
    for (const { open } of release) open()
    await fixture.holdfast.settled()
    expect(statesOf(await fixture.last())).toEqual(Array(4).fill('succeeded'))
    expect(most).toBe(2)
  })

  it('[CL5] lets a failing tool fail its own call only', async () => {
    const boom = tool({
      inputSchema: z.object({}),
      execute: (): Promise<string> => Promise.reject(new Error('kaput')),
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [call('a'), { call: 'boom', input: {} }, call('c')] : [{ text: 'ok' }],
      { tools: tools({ boom }) },
    )
    expect([...callsOf(await fixture.runTurn('go'))]).toMatchObject([
      { state: 'succeeded' },
      { state: 'failed', cause: 'tool-error', modelError: 'kaput' },
      { state: 'succeeded' },
    ])
  })

  it('[CL6] fails unknown tools, bad arguments and late tools, shows that to the model and goes on', async () => {
    const ran: unknown[] = []
    const strict = tool({
      inputSchema: z.object({ n: z.number() }),
      execute: (input) => ran.push(input),
    })
    const never = tool({ inputSchema: z.object({}), execute: () => new Promise(() => {}) })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? [
              { call: 'nope', input: {} },
              { call: 'strict', input: { n: 'NaN' } },
              { call: 'strict', input: {}, inputText: '{"n": 1' },
              { call: 'never', input: {} },
            ]
          : [{ text: 'I see.' }],
      { tools: { strict, never }, policies: { never: { timeoutMs: 5 } } },
    )
    const turn = await fixture.runTurn('go')
    expect([...callsOf(turn)].map((call) => ('cause' in call ? call.cause : call.state))).toEqual([
      'unknown-tool',
      'invalid-input',
      'invalid-input',
      'timeout',
    ])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(ran).toEqual([])
    const told = JSON.stringify(fixture.calls[1]?.prompt)
    expect(told).toContain('nope')
    expect(told).toContain('longer than 5 ms')
  })

  it('[CL7] runs a tool without arguments with {}', async () => {
    const inputs: unknown[] = []
    const bare = tool({
      inputSchema: z.object({}),
      execute: (input) => ({ seen: inputs.push(input) }),
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ call: 'bare', input: {}, inputText: '' }] : [{ text: 'ok' }],
      { tools: { bare } },
    )
    const turn = await fixture.runTurn('go')
    expect(inputs).toEqual([{}])
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'succeeded', output: { kind: 'inline', value: { seen: 1 } } },
    ])
  })

  it('[CL10] shows progress and keeps only the final result', async () => {
    const seen: unknown[] = []
    const go = gate()
    const progress = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield { percent: 10 }
        await go.opened
        yield { percent: 100 }
      },
    })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'progress', input: {} }] : [{ text: 'ok' }]),
      { tools: { progress } },
    )
    await fixture.send('go')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      const first = turn?.role === 'assistant' ? [...callsOf(turn)][0] : undefined
      if (first?.state === 'running' && first.preliminary !== undefined)
        seen.push(first.preliminary)
      return seen.length > 0
    })
    go.open()
    await fixture.holdfast.settled()
    expect(seen).toEqual([{ percent: 10 }])
    const [final] = callsOf(await fixture.last())
    expect(final).toMatchObject({ output: { value: { percent: 100 } } })
    expect(final).not.toHaveProperty('preliminary')
  })

  it('[LG10] keeps calls apart when the provider repeats its ids', async () => {
    const fixture = await createFixture(
      ({ index }) => (index < 2 ? [call(index, 'same'), call('twin', 'same')] : [{ text: 'ok' }]),
      { tools: tools() },
    )
    const calls = [...callsOf(await fixture.runTurn('go'))]
    expect(calls.map((each) => each.providerCallId)).toEqual(['same', 'same', 'same', 'same'])
    expect(new Set(calls.map((each) => each.id)).size).toBe(4)
    expect(calls.map((each) => each.state)).toEqual(Array(4).fill('succeeded'))
  })

  it('[CL6 LG9] fails a result that JSON cannot say, and stores a 10 MB one whole', async () => {
    const big = 'x'.repeat(10_000_000)
    const circular: { self?: unknown } = {}
    circular.self = circular
    const results: Record<string, unknown> = { circular, bigint: 10n, big, nothing: undefined }
    const give = tool({
      inputSchema: z.object({ what: z.string() }),
      execute: ({ what }) => results[what],
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? Object.keys(results).map((what) => ({ call: 'give', input: { what } }))
          : [{ text: 'ok' }],
      { tools: { give }, maxOutputChars: 1_000 },
    )
    const calls = [...callsOf(await fixture.runTurn('go'))]
    expect(calls.map(({ state }) => state)).toEqual(['failed', 'failed', 'succeeded', 'succeeded'])
    expect(calls[2]).toMatchObject({ output: { value: big } })
    expect(calls[3]).toMatchObject({ output: { value: null } })
    expect(JSON.stringify(fixture.calls[1]?.prompt).length).toBeLessThan(10_000)
  })

  it('records provider-executed tools and what toModelOutput says', async () => {
    const image = tool({
      inputSchema: z.object({}),
      execute: () => ({ bytes: 3 }),
      toModelOutput: () => ({ type: 'text', value: 'a small image' }),
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? [
              { call: 'web_search', input: { q: 'x' }, providerResult: { hits: 1 } },
              { call: 'image', input: {} },
            ]
          : [{ text: 'found' }],
      { tools: { image } },
    )
    const turn = await fixture.runTurn('go')
    expect([...callsOf(turn)]).toMatchObject([
      {
        name: 'web_search',
        providerExecuted: true,
        state: 'succeeded',
        output: { value: { hits: 1 } },
      },
      { name: 'image', state: 'succeeded', output: { value: { bytes: 3 } } },
    ])
    expect(JSON.stringify(fixture.calls[1]?.prompt)).toContain('a small image')
  })
})
