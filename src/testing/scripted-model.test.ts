import { tool } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

const log = vi.spyOn(console, 'error')
beforeEach(() => void log.mockImplementation(() => {}))
afterEach(() => log.mockReset())

type Script = Parameters<typeof scriptedModel>[0]
const create = (script: unknown, options?: object) => scriptedModel(script as Script, options)

/** How a turn ends whose model plays this script. */
async function endingOf(script: unknown) {
  const holdfast = createHoldfast({
    store: memory(),
    model: create(script),
    tools: { add: tool({ inputSchema: z.object({}), execute: () => 1 }) },
    modelRetries: 0,
    recoverEveryMs: 0,
  })
  const message = { parts: [{ type: 'text', text: 'go' } as const] }
  await holdfast.send({ threadId: 't', message, create: { ownerId: 'ana' } })
  await holdfast.settled()
  const page = await holdfast.store.readPage({
    threadId: 't',
    limit: 1,
    before: null,
    live: 'include',
    results: 'full',
  })
  await holdfast.close()
  const [turn] = page?.messages ?? []
  return turn?.role === 'assistant' && turn.progress.status === 'ended'
    ? turn.progress.ending
    : null
}

describe('scriptedModel', () => {
  it.each<readonly [script: unknown, options: object | undefined, message: string]>([
    [
      [{ text: 'hello' }],
      undefined,
      "scriptedModel takes a function that returns the parts of a step, such as () => [{ text: 'Hello.' }], not a list.",
    ],
    [
      undefined,
      undefined,
      "scriptedModel takes a function that returns the parts of a step, such as () => [{ text: 'Hello.' }], not undefined.",
    ],
    [() => [], { modelID: 'x' }, 'scriptedModel has no option "modelID". Did you mean "modelId"?'],
    [() => [], { onCall: 1 }, 'scriptedModel: the option "onCall" must be a function, not 1.'],
    [
      () => [],
      { clock: Date },
      'scriptedModel: the option "clock" must be a clock with now, after and soon, not a function.',
    ],
  ])('[CF1] refuses at once what it does not take (%#)', (script, options, message) => {
    expect(() => create(script, options)).toThrow(
      expect.objectContaining({ code: 'bad-option', message }),
    )
  })

  it.each<readonly [step: unknown, message: string]>([
    [{ text: 'hello' }, 'The script of scriptedModel must return a list of parts, not an object.'],
    [undefined, 'The script of scriptedModel must return a list of parts, not undefined.'],
    [
      Promise.resolve([]),
      'The script of scriptedModel must return a list of parts, not a promise.',
    ],
    [['hello'], 'part 0 must be an object such as { text: \'Hello.\' }, not "hello".'],
    [[{ text: 'a' }, null], "part 1 must be an object such as { text: 'Hello.' }, not null."],
    [[{ txt: 'hello' }], 'part 0 has no option "txt". Did you mean "text"?'],
    [[{}], 'part 0 needs one of text, reasoning, call, waitMs, fails, cut, finish.'],
    [[{ text: 7 }], 'part 0: the option "text" must be a string, not 7.'],
    [[{ text: 'a', peices: 2 }], 'part 0 has no option "peices". Did you mean "pieces"?'],
    [
      [{ text: 'a', finish: 'length' }],
      'part 0 has no option "finish". Its options are text, pieces, pauseMs.',
    ],
    [[{ text: 'a', pieces: 0 }], 'part 0: the option "pieces" must be a whole number from 1 to '],
    [[{ reasoning: null }], 'part 0: the option "reasoning" must be a string, not null.'],
    [[{ call: 'add' }], 'part 0 needs the option "input": a JSON value.'],
    [
      [{ call: 'add', input: () => 1 }],
      'part 0: the option "input" must be a JSON value, not a function.',
    ],
    [[{ call: 'add', args: {}, input: {} }], 'part 0 has no option "args". Did you mean "input"?'],
    [[{ call: 7, input: {} }], 'part 0: the option "call" must be a string, not 7.'],
    [
      [{ waitMs: '5' }],
      'part 0: the option "waitMs" must be a whole number of milliseconds from 0 to ',
    ],
    [[{ cut: false }], 'part 0: the option "cut" must be true, not false.'],
    [
      [{ text: 'Hm' }, { finish: 'nonsense' }],
      'part 1: the option "finish" must be "stop" or "length" or "tool-calls" or "content-filter" or "other", not "nonsense".',
    ],
  ])(
    '[CF1] refuses a step that is none, before any of it is streamed: %j',
    async (step, message) => {
      const ending = await endingOf(() => step)
      expect(ending).toMatchObject({
        kind: 'failed',
        error: { code: 'bad-option', message: expect.stringContaining(message) as string },
      })
      const lines = log.mock.calls.map(([line]) => String(line))
      expect(lines).toEqual([expect.stringContaining(message)])
    },
  )

  it.each([
    [[]],
    [[{ text: 'a', pieces: undefined, pauseMs: 0 }, { reasoning: '' }, { waitMs: 0 }]],
    [[{ finish: 'other' }]],
  ])('plays what is right: %j', async (step) => {
    expect(await endingOf(() => step)).not.toMatchObject({ error: { code: 'bad-option' } })
    expect(log.mock.calls).toEqual([])
  })

  it('counts the calls of the model in what it says', async () => {
    const ending = await endingOf(({ index }: { readonly index: number }) =>
      index === 0 ? [{ call: 'add', input: {} }] : [{ text: 'a' }, { texts: 'b' }],
    )
    expect(ending).toMatchObject({
      error: {
        message: expect.stringMatching(/^scriptedModel, call 1, part 1 has no option/) as string,
      },
    })
  })
})
