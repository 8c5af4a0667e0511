import { tool } from 'ai'
import { callsOf, totalsOf, type Turn } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, echo, gate, tools } from './fixture.ts'

const textOf = (turn: Turn) =>
  turn.steps
    .flatMap((step) => step.parts)
    .flatMap((part) => (part.type === 'text' ? part.text : []))
const statesOf = (turn: Turn) => [...callsOf(turn)].map((call) => call.state)
const call = (value: unknown, id?: string) =>
  ({ call: 'echo', input: { value: value as never }, ...(id === undefined ? {} : { id }) }) as const

describe('a turn', () => {
  it('[LG6 CL3] stores the message, calls the model, runs the tool and answers', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ text: 'Looking.' }, call('hello')] : [{ text: 'It said hello.' }],
      { tools: tools() },
    )
    const turn = await fixture.ask('Echo hello')
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
    const turn = await fixture.ask('go')
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
    await fixture.say('go')
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
    expect([...callsOf(await fixture.ask('go'))]).toMatchObject([
      { state: 'succeeded' },
      { state: 'failed', cause: 'tool-error', error: 'kaput' },
      { state: 'succeeded' },
    ])
  })

  it('[CL6] fails unknown tools, bad arguments and late tools, tells the model and goes on', async () => {
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
    const turn = await fixture.ask('go')
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
    const turn = await fixture.ask('go')
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
    await fixture.say('go')
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
    const calls = [...callsOf(await fixture.ask('go'))]
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
    const calls = [...callsOf(await fixture.ask('go'))]
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
    const turn = await fixture.ask('go')
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
    const turn = await fixture.ask('go')
    expect(turn.progress).toMatchObject({
      status: 'ended',
      ending: { kind: 'failed', error: { code: 'model-error' } },
    })
    expect(textOf(turn)).toEqual(['Let me see. ', 'And th'])
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'stream-failed' }])
    expect((await fixture.ask('again')).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[ST2] takes a stream that ends without a word for a failure', async () => {
    const fixture = await createFixture(() => [{ text: 'half an ans' }, { cut: true }])
    const turn = await fixture.ask('go')
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
    const turn = await fixture.ask('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'cut-off' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'over-limit' }])
  })

  it('[ST5] stops after the step limit and can be continued in the same message', async () => {
    const fixture = await createFixture(
      ({ index }) => (index < 5 ? [call(index)] : [{ text: 'at last' }]),
      { tools: tools(), maxSteps: 3 },
    )
    const first = await fixture.ask('go')
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
    expect((await fixture.ask('go')).progress).toMatchObject({ ending: { kind: 'no-answer' } })
  })

  it('[ST1] stops from anywhere: keeps what came, closes calls, tells the tools, and goes on after', async () => {
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
    await fixture.say('go')
    await begun.opened
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'stopped' })
    expect(await told.opened).toBe(true)
    const turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect(textOf(turn)).toEqual(['Working'])
    expect([...callsOf(turn)]).toMatchObject([{ state: 'stopped', cause: 'stopped' }])
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'idle' })
    expect((await fixture.ask('again')).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[ST1] stops in mid-text and keeps every piece the server had received', async () => {
    const fixture = await createFixture(() => [
      { text: 'one ' },
      { text: 'two ' },
      { waitMs: 60_000 },
      { text: 'three' },
    ])
    await fixture.say('go')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && textOf(turn).join('').includes('two')
    })
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'stopped' })
    expect(textOf(await fixture.last())).toEqual(['one ', 'two '])
  })

  it('tells a thread that does not exist from one that is idle', async () => {
    const fixture = await createFixture(() => [{ text: 'x' }])
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'idle' })
    expect(await fixture.holdfast.stop('nowhere' as never)).toEqual({ kind: 'no-thread' })
    expect(await fixture.holdfast.continue('nowhere' as never)).toEqual({ kind: 'no-thread' })
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
    expect((await fixture.ask('go')).progress).toMatchObject({ ending: { kind: 'completed' } })
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
    const { progress } = await fixture.ask('go')
    expect(progress).toMatchObject({ ending: { kind: 'failed', error: { code } } })
    const retried = fixture.log.some(({ type }) => type === 'model-retried')
    expect(retried).toBe(['rate-limited', 'provider-down', 'network'].includes(code))
  })
})

it('[LG8] never splits a surrogate pair between two commits', async () => {
  const fixture = await createFixture(() => [{ text: '👋🏽🌍', pieces: 6 }, { waitMs: 1 }])
  const seen: string[] = []
  await fixture.say('go')
  await fixture.until(({ messages }) => {
    const turn = messages.at(-1)
    if (turn?.role !== 'assistant') return false
    seen.push(textOf(turn).join(''))
    return turn.progress.status === 'ended'
  })
  expect(seen.at(-1)).toBe('👋🏽🌍')
  for (const text of seen) expect(text.isWellFormed()).toBe(true)
})

it('[LG8] stores arguments as they arrive, and a call that came at once as one fact', async () => {
  const streamed = { call: 'echo', input: { value: 'slowly' }, streamed: true } as const
  const fixture = await createFixture(
    ({ index }) =>
      index === 0 ? [{ ...streamed, pauseMs: 80 }, { waitMs: 40 }, streamed] : [{ text: 'ok' }],
    { tools: tools() },
  )
  const seen: string[] = []
  const following = (async () => {
    for await (const { changes } of fixture.holdfast.subscribe(fixture.threadId, 0)) {
      for (const change of changes) {
        if (change.kind !== 'event') continue
        seen.push(change.event.type)
        if (change.event.type === 'turn-ended') return
      }
    }
  })()
  await fixture.ask('go')
  await following
  const ofCalls = seen.filter((type) => /^call-(announced|input-appended|recorded)$/.test(type))
  expect(ofCalls).toEqual([
    'call-announced',
    'call-input-appended',
    'call-input-appended',
    'call-recorded',
    'call-recorded',
  ])
})

it('works with a plain AI SDK tool and no options at all', async () => {
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [call('x')] : [{ text: 'y' }]),
    {
      tools: { echo },
    },
  )
  expect(statesOf(await fixture.ask('go'))).toEqual(['succeeded'])
})
