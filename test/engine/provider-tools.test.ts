import { jsonSchema, type ToolSet } from 'ai'
import { callsOf, type HoldfastOptions, type Turn } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  finish,
  partModel,
  type ProviderPart,
  providerCall,
  providerResult,
  textParts,
} from '../support/part-model.ts'
import { createFixture, echo, textOf } from './fixture.ts'

/** As a provider's package makes one: run by the provider, and its result may come in a later step. */
const deferred = (supportsDeferredResults = true): ToolSet[string] => ({
  type: 'provider',
  id: 'parts.search',
  args: {},
  isProviderExecuted: true,
  supportsDeferredResults,
  inputSchema: jsonSchema({ type: 'object' }),
})

async function open(
  steps: readonly (readonly ProviderPart[])[],
  options: Partial<HoldfastOptions> = {},
) {
  const { model, prompts } = partModel(...steps)
  const fixture = await createFixture(() => [], {
    tools: { search: deferred() },
    ...options,
    model,
  })
  onTestFinished(() => fixture.holdfast.close())
  const turn = await fixture.runTurn('go')
  return { ...fixture, turn, prompts }
}

const results = (turn: Turn) =>
  [...callsOf(turn)].map((call) =>
    call.state === 'succeeded' && call.output.kind === 'inline' ? call.output.value : call.state,
  )
const endingOf = ({ progress }: Turn) =>
  progress.status === 'ended' ? progress.ending.kind : progress.status

describe('a tool that the provider runs', () => {
  it('[CL10] shows preliminary results as progress, and the final one is the result', async () => {
    const { turn, holdfast } = await open([
      [
        providerCall('a'),
        providerResult('a', { image: 'rough' }, { preliminary: true }),
        providerResult('a', { image: 'better' }, { preliminary: true }),
        providerResult('a', { image: 'whole' }),
        ...textParts('Here it is.'),
        finish(),
      ],
    ])
    expect(results(turn)).toEqual([{ image: 'whole' }])
    expect(textOf(turn)).toEqual(['Here it is.'])
    expect(endingOf(turn)).toBe('completed')
    expect(holdfast.metrics().ignoredEnds).toBe(0)
  })

  it.each([
    ['two results', [providerResult('a', 'first'), providerResult('a', 'second')], ['first'], 1],
    [
      'a result and then progress',
      [providerResult('a', 'first'), providerResult('a', 'late', { preliminary: true })],
      ['first'],
      0,
    ],
    [
      'an error and then a result',
      [providerResult('a', 'no', { isError: true }), providerResult('a', 'second')],
      ['failed'],
      1,
    ],
    ['a result of a call that nobody made', [providerResult('b', 'whose?')], ['interrupted'], 1],
    [
      'a result before its call is whole',
      [
        { type: 'tool-input-start', id: 'c', toolName: 'search', providerExecuted: true },
        providerResult('c', 'early'),
        providerCall('c'),
        providerResult('a', 'first'),
      ],
      ['first', 'early'],
      0,
    ],
  ] as const)('[CL2] loses no turn over %s', async (_, said, expected, ignored) => {
    const { turn, holdfast } = await open(
      [
        [
          ...textParts('Looking.', 't1'),
          providerCall('a'),
          ...said,
          ...textParts('Done.', 't2'),
          finish(),
        ],
      ],
      { tools: { search: deferred(false) } },
    )
    expect(results(turn)).toEqual(expected)
    expect(textOf(turn)).toEqual(['Looking.', 'Done.'])
    expect(endingOf(turn)).toBe('completed')
    expect(holdfast.metrics().ignoredEnds).toBe(ignored)
  })

  it('[CL2] says of a call that the provider never answered that no result came', async () => {
    const { turn } = await open([[providerCall('a'), ...textParts('Well.'), finish()]], {
      tools: { search: deferred(false) },
    })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'no-result' }])
    expect(endingOf(turn)).toBe('completed')
  })

  it('[CL2] shows what the provider reported as wrong, in words', async () => {
    const { turn } = await open([
      [
        providerCall('a'),
        providerResult('a', { errorCode: 'max_uses_exceeded' }, { isError: true }),
        ...textParts('Well.'),
        finish(),
      ],
    ])
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'failed', modelError: '{"errorCode":"max_uses_exceeded"}' },
    ])
  })

  it('[CL3 ST3] may give its result in a later step: the turn goes on until it has', async () => {
    const { turn, prompts } = await open([
      [...textParts('Searching.'), providerCall('a'), finish('stop')],
      [providerResult('a', { hits: 'three' }), ...textParts('Three hits.'), finish()],
    ])
    expect(results(turn)).toEqual([{ hits: 'three' }])
    expect(textOf(turn)).toEqual(['Searching.', 'Three hits.'])
    expect(endingOf(turn)).toBe('completed')
    // While it is awaited, its call is the last word, and nobody asks to go on.
    expect(prompts[1]?.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(prompts[1]?.[1]?.content).toMatchObject([
      { type: 'text', text: 'Searching.' },
      { type: 'tool-call', toolCallId: 'a', providerExecuted: true },
    ])
  })

  it('[CL3 ST3] has its late result shown where it came', async () => {
    const { prompts, runTurn } = await open([
      [providerCall('a'), finish('stop')],
      [providerResult('a', { hits: 'three' }), ...textParts('Three hits.'), finish()],
      [...textParts('Yes.'), finish()],
    ])
    await runTurn('sure?')
    expect(prompts[2]?.map(({ role, content }) => [role, typesOf(content)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call']],
      ['assistant', ['tool-result', 'text']],
      ['user', ['text']],
    ])
  })

  it('[CL3] may be called beside a tool of ours that its own work waits for', async () => {
    const own: ProviderPart = {
      type: 'tool-call',
      toolCallId: 'e',
      toolName: 'echo',
      input: '{"value":"x"}',
    }
    const { turn, prompts } = await open(
      [
        [providerCall('a'), own, finish('tool-calls')],
        [providerResult('a', 'sum'), ...textParts('Done.'), finish()],
      ],
      { tools: { search: deferred(), echo } },
    )
    expect(results(turn)).toEqual(['sum', 'x'])
    expect(prompts[1]?.map(({ role, content }) => [role, typesOf(content)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call', 'tool-call']],
      ['tool', ['tool-result']],
    ])
    expect(endingOf(turn)).toBe('completed')
  })

  it('[LG10] is told from a tool of ours that was called under the same id', async () => {
    const own: ProviderPart = {
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'echo',
      input: '{"value":"ours"}',
    }
    const { turn, holdfast } = await open(
      [
        [own, providerCall('a'), providerResult('a', 'theirs'), finish('tool-calls')],
        [...textParts('Done.'), finish()],
      ],
      { tools: { search: deferred(), echo } },
    )
    expect(results(turn)).toEqual(['ours', 'theirs'])
    expect(holdfast.metrics().ignoredEnds).toBe(0)
  })

  it('[CL3] is not waited for when nothing is heard of it any more', async () => {
    const silent = [...textParts('Hm.'), finish()]
    const { turn, prompts } = await open([[providerCall('a'), finish()], silent, silent, silent])
    expect(prompts).toHaveLength(3)
    expect([...callsOf(turn)]).toMatchObject([{ state: 'interrupted', cause: 'no-result' }])
    expect(endingOf(turn)).toBe('completed')
  })

  it('[AP1 AP5] may request approval, and receives the decision', async () => {
    const fixture = await open([
      [
        { ...(providerCall('m', 'mcp.pay') as object), dynamic: true } as ProviderPart,
        { type: 'tool-approval-request', approvalId: 'mcpr_1', toolCallId: 'm' },
        finish('stop'),
      ],
      [
        { ...(providerCall('m', 'mcp.pay') as object), dynamic: true } as ProviderPart,
        providerResult('m', 'paid', {}, 'mcp.pay'),
        ...textParts('Paid.'),
        finish(),
      ],
    ])
    const { turn, holdfast, threadId, prompts } = fixture
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'approval' })
    const [call] = callsOf(turn)
    if (call === undefined) throw new Error('no call')
    const decisions = [{ callId: call.id, decision: 'accept' }] as const
    await holdfast.decide({ threadId, by: 'ana', decisions })
    await holdfast.settled()
    expect(results(await fixture.last())).toEqual(['paid'])
    expect(endingOf(await fixture.last())).toBe('completed')
    expect(prompts[1]?.map(({ role, content }) => [role, typesOf(content)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call']],
      ['tool', ['tool-approval-response']],
    ])
    expect(prompts[1]?.[2]?.content).toMatchObject([{ approvalId: 'mcpr_1', approved: true }])
  })
})

const typesOf = (content: unknown): readonly string[] =>
  Array.isArray(content) ? content.map(({ type }: { type: string }) => type) : ['text']
