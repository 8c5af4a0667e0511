import { setImmediate } from 'node:timers/promises'
import { tool, type ToolSet } from 'ai'
import { callsOf, createHoldfast, type Turn } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endingNoteOf } from '../../src/views/ending-note.ts'
import { endlessModel, type EndlessPart } from '../support/endless-model.ts'
import { createFixture, messageId, textOf, tools } from './fixture.ts'

/** What a model may go on with for ever, and which limit ends it. */
const endless: readonly (readonly [
  what: string,
  limit: string,
  parts: (index: number) => readonly EndlessPart[],
])[] = [
  ['text', 'text', (index) => (index === 0 ? [start('text')] : [delta('text', 'all work ')])],
  [
    'reasoning',
    'text',
    (index) => (index === 0 ? [start('reasoning')] : [delta('reasoning', 'and no play ')]),
  ],
  [
    'pieces of two kinds',
    'text',
    (index) => [
      start('text', `t${index}`),
      delta('text', 'a', `t${index}`),
      delta('reasoning', 'bcd', `r${index}`),
    ],
  ],
  ['astral letters', 'text', (index) => (index === 0 ? [start('text')] : [delta('text', '😀')])],
  [
    'arguments',
    'arguments',
    (index) =>
      index === 0
        ? [{ type: 'tool-input-start', id: 'a', toolName: 'echo' }]
        : [{ type: 'tool-input-delta', id: 'a', delta: '{"value":"' }],
  ],
  [
    'calls',
    'calls',
    (index) => [
      { type: 'tool-call', toolCallId: `c${index}`, toolName: 'echo', input: '{"value":1}' },
    ],
  ],
  [
    'calls that only begin',
    'calls',
    (index) => [{ type: 'tool-input-start', id: `c${index}`, toolName: 'echo' }],
  ],
  [
    'calls with long arguments',
    'arguments',
    (index) => [
      {
        type: 'tool-call',
        toolCallId: `c${index}`,
        toolName: 'echo',
        input: JSON.stringify({ value: 'x'.repeat(450) }),
      },
    ],
  ],
  [
    'calls whose arguments come at their end',
    'arguments',
    (index) => [
      { type: 'tool-input-start', id: `c${index}`, toolName: 'echo' },
      {
        type: 'tool-call',
        toolCallId: `c${index}`,
        toolName: 'echo',
        input: JSON.stringify({ value: 'x'.repeat(450) }),
      },
    ],
  ],
  [
    'what a provider attaches to texts',
    'arguments',
    (index) => [
      { ...start('text', `t${index}`), providerMetadata: { a: { b: 'x'.repeat(100) } } },
      delta('text', 'a', `t${index}`),
      { type: 'text-end', id: `t${index}` },
    ],
  ],
  [
    'what a provider attaches to the ends of texts',
    'arguments',
    (index) => [
      start('reasoning', `t${index}`),
      delta('reasoning', 'a', `t${index}`),
      {
        type: 'reasoning-end',
        id: `t${index}`,
        providerMetadata: { a: { signature: 'x'.repeat(100) } },
      },
    ],
  ],
  [
    'what a provider attaches to one text, more each time',
    'arguments',
    (index) =>
      index === 0
        ? [start('text')]
        : [{ ...delta('text', 'a'), providerMetadata: { a: { b: 'x'.repeat(10 * index) } } }],
  ],
  [
    'sources',
    'text',
    (index) => [
      {
        type: 'source',
        sourceType: 'url',
        id: `s${index}`,
        url: 'https://example.com/',
        title: 'x',
      },
    ],
  ],
  [
    'files',
    'files',
    () => [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'QUJD'.repeat(100) } },
    ],
  ],
  [
    'names of tools',
    'arguments',
    (index) => [{ type: 'tool-input-start', id: `c${index}`, toolName: 'x'.repeat(450) }],
  ],
  [
    'ids of calls',
    'arguments',
    (index) => [{ type: 'tool-input-start', id: `${index}`.padEnd(450), toolName: 'echo' }],
  ],
  ['texts that never start', 'parts', (index) => [delta('text', '', `t${index}`)]],
  [
    'reasoning that ends at once',
    'parts',
    () => [delta('reasoning', ''), { type: 'reasoning-end', id: '1' }],
  ],
  [
    'empty texts',
    'parts',
    (index) => [
      start('text', `t${index}`),
      { type: 'text-end', id: `t${index}` },
      ...(index === 0 ? [start('text', 'x'), delta('text', '.', 'x')] : []),
    ],
  ],
  [
    'empty texts before a word',
    'parts',
    (index) => [start('text', `t${index}`), { type: 'text-end', id: `t${index}` }],
  ],
]

function start(kind: 'text' | 'reasoning', id = '1'): EndlessPart {
  return { type: `${kind}-start`, id }
}
function delta(kind: 'text' | 'reasoning', text: string, id = '1'): EndlessPart {
  return { type: `${kind}-delta`, id, delta: text }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

const small = { maxTextChars: 1_001, maxArgumentChars: 501, maxCalls: 7, maxResultChars: 2_000 }

const limitOf = ({ progress }: Turn) =>
  progress.status === 'ended' && progress.ending.kind === 'cut-off' ? progress.ending.limit : null

describe('an answer without an end', () => {
  it.each(endless)(
    '[ST4a] of %s is cut off at its limit, and says at which',
    async (_, what, parts) => {
      const model = endlessModel(parts)
      const fixture = await createFixture(() => [], { model, tools: tools(), ...small })
      const turn = await fixture.runTurn('go')
      expect(limitOf(turn)).toMatchObject({ what })
      expect(model.cancelled()).toBe(1)
      expect(JSON.stringify(turn).isWellFormed()).toBe(true)
      const said = turn.steps
        .flatMap((step) => step.parts)
        .flatMap((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : []))
        .join('')
      expect(said.length).toBeLessThanOrEqual(small.maxTextChars)
      const calls = [...callsOf(turn)]
      expect(calls.length).toBeLessThanOrEqual(small.maxCalls)
      for (const call of calls) {
        expect(call).toMatchObject({ state: 'interrupted', cause: 'over-limit' })
        if (call.input.kind === 'partial') {
          expect(call.input.text.length).toBeLessThanOrEqual(small.maxArgumentChars)
        }
      }
      if (turn.progress.status !== 'ended') throw new Error('not ended')
      expect(endingNoteOf(turn.progress.ending)).toMatchObject({
        message: expect.stringMatching(/limit/) as string,
      })
    },
  )

  it('[ST4a] what a provider attaches again with each delta counts once', async () => {
    const note = { a: { id: 'x'.repeat(100) } }
    const model = endlessModel((index) =>
      index === 0
        ? [start('text')]
        : index < 1_000
          ? [{ ...delta('text', 'a'), providerMetadata: note }]
          : [{ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }],
    )
    const fixture = await createFixture(() => [], { model, ...small })
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[ST4a] keeps all that fits, and not a letter more', async () => {
    const model = endlessModel((index) => (index === 0 ? [start('text')] : [delta('text', '123')]))
    const fixture = await createFixture(() => [], { model, ...small })
    const [text] = textOf(await fixture.runTurn('go'))
    expect(text).toBe('123'.repeat(334).slice(0, 1_001))
  })

  it('[ST4a] has limits where nobody set any', async () => {
    const model = endlessModel((index) =>
      index === 0 ? [start('text')] : [delta('text', 'all work and no play '.repeat(50))],
    )
    const fixture = await createFixture(() => [], { model })
    const turn = await fixture.runTurn('go')
    expect(limitOf(turn)).toEqual({ what: 'text', most: 1_000_000 })
    expect(model.produced()).toBeLessThan(2_000)
  })

  it('[ST4a] counts the text of the whole turn, and a person can go on', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index < 10
          ? [{ text: 'x'.repeat(400) }, { call: 'echo', input: { value: 1 } }]
          : [{ text: 'done' }],
      { tools: tools(), ...small },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.steps).toHaveLength(3)
    expect(limitOf(turn)).toEqual({ what: 'text', most: 1_001 })
    expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    expect(await fixture.holdfast.continue(fixture.threadId)).toMatchObject({ kind: 'continued' })
    await fixture.holdfast.settled()
    expect((await fixture.last()).steps.length).toBeGreaterThan(4)
  })

  it('[ST4a] of whole arguments runs no tool', async () => {
    const ran: unknown[] = []
    const take = tool({ inputSchema: z.any(), execute: (input: unknown) => ran.push(input) })
    const fixture = await createFixture(
      () => [{ call: 'take', input: { text: 'x'.repeat(600) } }],
      { tools: { take }, ...small },
    )
    const turn = await fixture.runTurn('go')
    expect(limitOf(turn)).toEqual({ what: 'arguments', most: 501 })
    expect([...callsOf(turn)]).toMatchObject([
      { name: 'take', state: 'interrupted', cause: 'over-limit' },
    ])
    expect(ran).toEqual([])
  })
})

describe('one part of an answer', () => {
  const finish = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage,
  } as const
  const modelWithParts = (parts: readonly EndlessPart[]) =>
    endlessModel((index) => (index === 0 ? parts : [finish]))
  const long = 'x'.repeat(5_000_000)

  it.each<[what: string, limit: string, part: EndlessPart]>([
    [
      'the name of a tool',
      'arguments',
      { type: 'tool-call', toolCallId: 'c', toolName: long, input: '{}' },
    ],
    [
      'the id of a call',
      'arguments',
      { type: 'tool-call', toolCallId: long, toolName: 'echo', input: '{"value":1}' },
    ],
    [
      'the id of a call that only begins',
      'arguments',
      { type: 'tool-input-start', id: long, toolName: 'echo' },
    ],
    [
      'the type of a file',
      'files',
      {
        type: 'file',
        mediaType: `image/${long.repeat(4)}`,
        data: { type: 'data', data: 'QUJD' },
      },
    ],
  ])('[ST4a] that is too long as %s is not stored', async (_, what, part) => {
    const fixture = await createFixture(() => [], { model: modelWithParts([part]), tools: tools() })
    const turn = await fixture.runTurn('go')
    expect(limitOf(turn)).toMatchObject({ what })
    expect(JSON.stringify(turn).length).toBeLessThan(10_000)
  })

  it('[ST4a] what the provider attaches to the end is kept, or left out where it is too long', async () => {
    const ends = (note: string) =>
      endlessModel(() => [
        start('text'),
        delta('text', 'ok'),
        { ...finish, providerMetadata: { a: { note } } },
      ])
    for (const [note, kept] of [
      ['short', { a: { note: 'short' } }],
      [long, undefined],
    ] as const) {
      const turn = await (await createFixture(() => [], { model: ends(note) })).runTurn('go')
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      const [step] = turn.steps
      expect(step?.status === 'ended' && step.providerMetadata).toEqual(kept)
    }
  })

  it('[ST4a] of the name of the model that answered no more is kept than a name has', async () => {
    const model = modelWithParts([
      { type: 'response-metadata', modelId: long },
      start('text'),
      delta('text', 'ok'),
    ])
    const turn = await (await createFixture(() => [], { model })).runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(turn.steps.map((step) => step.model)).toEqual(['x'.repeat(200)])
  })
})

describe('a loop of the host’s own', () => {
  it.each([
    ['text', (index: number) => ({ type: 'text-delta', id: '1', text: `${index} bottles ` })],
    ['chunks of text', (index: number) => ({ type: 'text-delta', id: '1', delta: `${index} ` })],
    ['plain text', (index: number) => `${index} green bottles `],
    [
      'calls',
      (index: number) => ({ type: 'tool-call', toolCallId: `c${index}`, toolName: 'a', input: {} }),
    ],
    ['data', (index: number) => ({ type: 'data-x', id: `d${index}`, data: { index } })],
  ])('[ST4a] of %s without an end is cut off as well, and told to stop', async (_, part) => {
    const fixture = await createFixture(() => [], small)
    let isClosed = false
    async function* source() {
      try {
        for (let index = 0; ; index++) {
          yield part(index)
          await setImmediate()
        }
      } finally {
        isClosed = true
      }
    }
    const recording = await fixture.holdfast.record(source(), {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] },
    })
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    void recording.stream.cancel()
    await recording.done
    await expect.poll(() => isClosed).toBe(true)
    const turn = await fixture.last()
    expect(limitOf(turn)).toMatchObject({ most: expect.any(Number) as number })
    expect(JSON.stringify(turn).length).toBeLessThan(30_000)
  })
})

describe('a result', () => {
  const toolReturning = (value: unknown) =>
    tool({ inputSchema: z.object({}), execute: () => value as string })
  const callThenText = ({ index }: { index: number }) =>
    index === 0 ? [{ call: 'give', input: {} }] : [{ text: 'ok' }]

  it('[ST4b] that is long is kept whole and cut for the model, which is shown how long it was', async () => {
    const value = 'y'.repeat(300_000)
    const fixture = await createFixture(callThenText, { tools: { give: toolReturning(value) } })
    const [call] = callsOf(await fixture.runTurn('go'))
    expect(call).toMatchObject({ state: 'succeeded', output: { kind: 'inline', value } })
    const told = JSON.stringify(fixture.calls[1]?.prompt)
    expect(told.length).toBeLessThan(220_000)
    expect(told).toContain('200000 of 300000 characters')
  })

  it.each([
    ['text', 'z'.repeat(3_000)],
    ['a list', Array.from({ length: 900 }, (_, index) => index)],
    ['an object of one long key', { ['k'.repeat(3_000)]: 1 }],
    ['many empty things', Array.from({ length: 1_001 }, () => ({}))],
  ])('[ST4b] of %s that no row should hold fails its call, and no more', async (_, value) => {
    const fixture = await createFixture(callThenText, {
      tools: { give: toolReturning(value) },
      ...small,
    })
    const turn = await fixture.runTurn('go')
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'failed', cause: 'tool-error', error: expect.stringContaining('2,000') as string },
    ])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })
})

describe('a turn as a whole', () => {
  const chars = (turn: Turn) => JSON.stringify(turn.steps).length

  it('[ST4c] of many calls with long arguments is cut off at its limit, and a person can go on', async () => {
    const ran: string[] = []
    const take = tool({
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => {
        ran.push(text)
        return 'ok'
      },
    })
    const fixture = await createFixture(
      () =>
        Array.from({ length: 10 }, () => ({
          call: 'take',
          input: { text: 'x'.repeat(1_000) },
          streamed: true,
        })),
      { tools: { take }, maxTurnChars: 5_000 },
    )
    const turn = await fixture.runTurn('go')
    expect(limitOf(turn)).toEqual({ what: 'turn', most: 5_000 })
    expect(chars(turn)).toBeLessThan(20_000)
    expect([...callsOf(turn)].at(-1)).toMatchObject({ state: 'interrupted', cause: 'over-limit' })
    if (turn.progress.status !== 'ended') throw new Error('not ended')
    expect(endingNoteOf(turn.progress.ending)?.message).toContain('5,000 characters in all')
    const before = [...callsOf(turn)].length
    await fixture.holdfast.continue(fixture.threadId)
    await fixture.holdfast.settled()
    expect([...callsOf(await fixture.last())].length).toBeGreaterThan(before)
  })

  it('[ST4c] keeps the beginning of an error that is as long as a page of another server', async () => {
    const fail = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error(`It said: ${'x'.repeat(1_000_000)}`)
      },
    })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'fail', input: {} }] : [{ text: 'ok' }]),
      { tools: { fail } },
    )
    const turn = await fixture.runTurn('go')
    expect(JSON.stringify(turn)).toContain('It said: xxx')
    expect(chars(turn)).toBeLessThan(20_000)
    expect(JSON.stringify(fixture.calls.at(-1)?.prompt).length).toBeLessThan(20_000)
    expect(JSON.stringify(fixture.log).length).toBeLessThan(30_000)
  })

  /** A turn that calls a tool ten times, and has room for three results of 1,500 characters. */
  const giveTen = (give: ToolSet[string]) =>
    createFixture(
      ({ index }) =>
        index === 0
          ? Array.from({ length: 10 }, () => ({ call: 'give', input: {} }))
          : [{ text: 'ok' }],
      { tools: { give }, maxTurnChars: 5_000 },
    )
  const expectThree = (turn: Turn) => {
    const states = [...callsOf(turn)].map(({ state }) => state)
    expect(states.filter((state) => state === 'succeeded')).toHaveLength(3)
    expect(states.filter((state) => state === 'failed')).toHaveLength(7)
  }

  it('[ST4c] of many long results fails those that it has no room for, and goes on', async () => {
    const give = tool({ inputSchema: z.object({}), execute: () => 'y'.repeat(1_500) })
    const fixture = await giveTen(give)
    const turn = await fixture.runTurn('go')
    expectThree(turn)
    expect(JSON.stringify(turn)).toContain('exceed the limit of 5,000 characters')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(chars(turn)).toBeLessThan(20_000)
  })

  it('[ST4c] counts what the model is sent in place of a result', async () => {
    const give = tool({
      inputSchema: z.object({}),
      execute: () => 'short',
      toModelOutput: () => ({ type: 'text', value: 'y'.repeat(1_500) }),
    })
    const fixture = await giveTen(give)
    expectThree(await fixture.runTurn('go'))
  })

  it('[ST4c] ends a call of the client as failed in a turn that has more than it may have since', async () => {
    const ask = tool({ inputSchema: z.object({}), outputSchema: z.any() })
    const first = await createFixture(
      ({ index }) =>
        index === 0 ? [{ text: 'x'.repeat(5_000) }, { call: 'ask', input: {} }] : [{ text: 'ok' }],
      { tools: { ask } },
    )
    const [call] = callsOf(await first.runTurn('go'))
    await first.holdfast.close()
    const { store, threadId } = first
    const holdfast = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'ok' }]),
      tools: { ask },
      maxTurnChars: 2_000,
      recoverEveryMs: 0,
    })
    const toolCallId = call?.id ?? ''
    const answers = [
      { toolCallId, output: 'a result' },
      { toolCallId, errorText: 'No.' },
    ]
    const kinds = []
    for (const answer of answers) {
      const [result] = await holdfast.addToolOutputs(threadId, [answer])
      kinds.push(result?.kind)
    }
    await holdfast.close()
    expect(kinds).toEqual(['invalid-result', 'added'])
  })

  it('[ST4c OP7a] keeps the beginning of an error that a client returns, and knows it when it comes again', async () => {
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'ask', input: {} }] : [{ text: 'ok' }]),
      { tools: { ask: tool({ inputSchema: z.object({}) }) } },
    )
    const [asked] = callsOf(await fixture.runTurn('go'))
    const output = { toolCallId: asked?.id ?? '', errorText: `It said: ${'x'.repeat(1_000_000)}` }
    const add = () => fixture.holdfast.addToolOutputs(fixture.threadId, [output])
    expect([await add(), await add()]).toEqual([[{ kind: 'added' }], [{ kind: 'repeated' }]])
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(JSON.stringify(turn)).toContain('It said: xxx')
    expect(chars(turn)).toBeLessThan(20_000)
  })

  it.each([
    ['edited arguments', { args: { text: 'x'.repeat(900) } }],
    ['feedback', { feedback: 'x'.repeat(900) }],
  ])('[ST4c OP7a AP3] has room for so much of %s, and can be decided without', async (_, more) => {
    const act = tool({ inputSchema: z.object({ text: z.string() }), execute: () => 'done' })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? Array.from({ length: 6 }, () => ({ call: 'act', input: { text: '' } }))
          : [{ text: 'Done.' }],
      { tools: { act }, policies: { act: { approval: 'always' } }, maxArgumentChars: 1_000 },
    )
    const { holdfast, threadId } = fixture
    const ids = [...callsOf(await fixture.runTurn('go'))].map(({ id }) => id)
    const decide = async (given: object) => {
      const accept = (toolCallId: string) => ({ toolCallId, decision: 'accept' as const, ...given })
      const results = await holdfast.decide({ threadId, by: 'ann', decisions: ids.map(accept) })
      return results.map(({ kind }) => kind)
    }
    expect((await decide(more)).slice(-3)).toEqual(['accepted', 'invalid-args', 'invalid-args'])
    expect((await decide({})).slice(-2)).toEqual(['accepted', 'accepted'])
  })

  it('[ST4c] of results that the client gives is refused the one that is too much; its call waits on', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? Array.from({ length: 3 }, () => ({ call: 'ask', input: {} }))
          : [{ text: 'ok' }],
      { tools: { ask: tool({ inputSchema: z.object({}) }) }, maxTurnChars: 5_000 },
    )
    const calls = [...callsOf(await fixture.runTurn('go'))]
    const outputs = calls.map(({ id: toolCallId }) => ({ toolCallId, output: 'z'.repeat(2_000) }))
    const results = await fixture.holdfast.addToolOutputs(fixture.threadId, outputs)
    expect(results.map(({ kind }) => kind)).toEqual(['added', 'added', 'invalid-result'])
    expect(callsOf(await fixture.last())[0]).toMatchObject({ state: 'succeeded' })
  })

  it('[ST4c] of a loop of the host’s own is cut off as well', async () => {
    const fixture = await createFixture(() => [], { maxTurnChars: 5_000 })
    async function* source() {
      yield { type: 'start-step' }
      for (let index = 0; index < 10; index++) {
        const call = { toolCallId: `c${index}`, toolName: 'a', input: {} }
        yield { type: 'tool-call', ...call }
        yield { type: 'tool-result', ...call, output: 'w'.repeat(1_000) }
        await setImmediate()
      }
    }
    const recording = await fixture.holdfast.record(source(), {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] },
    })
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    void recording.stream.cancel()
    await recording.done
    expect(limitOf(await fixture.last())).toEqual({ what: 'turn', most: 5_000 })
  })
})

describe('the repository', () => {
  it('[ST4c CL11] refuses what would make the turn too large', async () => {
    const fixture = await createFixture(() => [], { maxTurnChars: 5_000 })
    const { threadId, holdfast } = fixture
    const id = messageId('m1')
    const call = { threadId, messageId: id, name: 'a', isPartial: false, arguments: {} }
    const storeResult = async (callId: string) => {
      await holdfast.toolCalls.upsert({ ...call, callId })
      return holdfast.toolCalls.setResult(id, callId, 'v'.repeat(2_000))
    }
    expect([await storeResult('a'), await storeResult('b')]).toEqual([true, true])
    await expect(storeResult('c')).rejects.toMatchObject({ code: 'bad-request' })
  })

  it('[ST4a ST4b CL11] refuses what is over a limit, and keeps what it had', async () => {
    const fixture = await createFixture(() => [], small)
    const { threadId, holdfast } = fixture
    const { toolCalls } = holdfast
    const id = messageId('m1')
    const call = { threadId, messageId: id, callId: 'c', name: 'a', isPartial: false }
    await toolCalls.appendText({ threadId, messageId: id, text: 'x'.repeat(1_000) })
    const more = toolCalls.appendText({ threadId, messageId: id, text: 'yy' })
    await expect(more).rejects.toMatchObject({ code: 'bad-request' })
    const large = toolCalls.upsert({ ...call, arguments: { text: 'x'.repeat(600) } })
    await expect(large).rejects.toMatchObject({ code: 'bad-request' })
    await toolCalls.upsert({ ...call, arguments: {} })
    const result = toolCalls.setResult(id, 'c', 'z'.repeat(2_001))
    await expect(result).rejects.toMatchObject({ code: 'bad-request' })
    for (let index = 1; index < 7; index++) {
      await toolCalls.upsert({ ...call, callId: `c${index}`, arguments: {} })
    }
    const eighth = toolCalls.upsert({ ...call, callId: 'c8', arguments: {} })
    await expect(eighth).rejects.toMatchObject({ code: 'bad-request' })
    const turn = await fixture.last()
    expect(textOf(turn)).toEqual(['x'.repeat(1_000)])
    expect([...callsOf(turn)]).toHaveLength(7)
  })
})
