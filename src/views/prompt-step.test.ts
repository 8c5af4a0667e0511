import { describe, expect, test } from 'vitest'
import type { CallOrigin, CallOutcome } from '../core/call.ts'
import type { TurnFact } from '../core/event.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import type { Message, Turn, UserPart } from '../core/message.ts'
import type { FinishReason } from '../core/usage.ts'
import { turnOf } from '../testing/turn-of.ts'
import { projectPrompt } from './model-prompt.ts'

const user = (...parts: readonly (string | UserPart)[]): Message => ({
  role: 'user',
  id: parseMessageId('user'),
  seq: 1,
  parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  createdAt: 0,
})

const begin: TurnFact = { type: 'step-started', step: 0 }
const over = (finishReason: FinishReason = 'tool-calls'): TurnFact => ({
  type: 'step-ended',
  finishReason,
})
const say = (block: string, delta: string, kind: 'text' | 'reasoning' = 'text'): TurnFact[] => [
  { type: 'text-started', block, kind, providerMetadata: { demo: { itemId: `item-${block}` } } },
  { type: 'text-appended', block, delta },
  { type: 'text-ended', block },
]
const callId = parseCallId('c1')
const origin: CallOrigin = { id: callId, providerCallId: 'call_1', name: 'weather' }
const record = (
  call: Partial<CallOrigin> = {},
  input: Json = { city: 'Oslo' },
  approval: 'required' | 'not-required' = 'not-required',
): TurnFact => {
  const whole = { ...origin, ...call }
  return { type: 'call-recorded', callId: whole.id, call: whole, input, approval }
}
const settle = (outcome: CallOutcome, id = callId): TurnFact => ({
  type: 'call-settled',
  callId: id,
  outcome,
})
const succeeded = (value: Json, modelOutput?: Json): CallOutcome => ({
  state: 'succeeded',
  output: { kind: 'inline', value },
  ...(modelOutput === undefined ? {} : { modelOutput }),
})
const promptOf = (turn: Turn, maxOutputChars?: number) =>
  projectPrompt([user('Hi'), turn], maxOutputChars === undefined ? {} : { maxOutputChars })
const resultOf = (turn: Turn, maxOutputChars?: number) => {
  const message = promptOf(turn, maxOutputChars).at(-1)
  return message?.role === 'tool' ? message.content[0]?.output : undefined
}
const callOf = (turn: Turn) => {
  const message = promptOf(turn).find(({ role }) => role === 'assistant')
  return message?.role === 'assistant'
    ? message.content.find((part) => part.type === 'tool-call')
    : undefined
}

describe('a step in the prompt', () => {
  test('[ST3] is what the model said, then what its calls gave', () => {
    const turn = turnOf(
      begin,
      ...say('0', 'Need the weather.', 'reasoning'),
      ...say('1', 'Looking.'),
      record(),
      over(),
      settle(succeeded({ tempC: 20 })),
      { type: 'step-started', step: 1 },
      ...say('2', 'It is 20.'),
      over('stop'),
    )
    expect(projectPrompt([user('Hi'), turn, user('Thanks')])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: 'Need the weather.',
            providerOptions: { demo: { itemId: 'item-0' } },
          },
          { type: 'text', text: 'Looking.', providerOptions: { demo: { itemId: 'item-1' } } },
          {
            type: 'tool-call',
            toolCallId: 'call_1',
            toolName: 'weather',
            input: { city: 'Oslo' },
          },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call_1',
            toolName: 'weather',
            output: { type: 'json', value: { tempC: 20 } },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'It is 20.', providerOptions: { demo: { itemId: 'item-2' } } },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Thanks' }] },
    ])
  })

  test.each(['stopped', 'interrupted', 'error', 'length'] as const)(
    '[ST3] that ended as %s has neither reasoning nor item ids',
    (finishReason) => {
      const turn = turnOf(
        begin,
        ...say('0', 'Hm', 'reasoning'),
        ...say('1', 'Look'),
        record({ providerMetadata: { demo: { itemId: 'x', signature: 's' } } }),
        over(finishReason),
        settle({ state: 'stopped', cause: 'stopped' }),
      )
      expect(promptOf(turn)[1]?.content).toEqual([
        { type: 'text', text: 'Look' },
        {
          type: 'tool-call',
          toolCallId: 'call_1',
          toolName: 'weather',
          input: { city: 'Oslo' },
          providerOptions: { demo: { signature: 's' } },
        },
      ])
    },
  )

  test('[ST3] that was abandoned is left out, but for what may have had an effect', () => {
    const again = { ...origin, id: parseCallId('c2'), providerCallId: 'call_2' }
    const turn = turnOf(
      begin,
      ...say('0', 'Broken'),
      record(),
      { type: 'call-recorded', callId: again.id, call: again, input: {}, approval: 'not-required' },
      { type: 'call-started', callId },
      settle({ state: 'unknown', cause: 'crashed' }),
      settle({ state: 'interrupted', cause: 'crashed' }, again.id),
      { type: 'step-abandoned' },
    )
    expect(promptOf(turn).slice(1)).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1' }] },
      { role: 'tool', content: [{ toolCallId: 'call_1', output: { type: 'error-text' } }] },
    ])
    expect(promptOf(turnOf(begin, ...say('0', 'Broken'), { type: 'step-abandoned' }))).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ])
  })

  test('[ST3] of text alone is followed by a word to go on, at the end and in between', () => {
    const goOn = {
      role: 'user',
      content: [{ type: 'text', text: 'Continue from where you stopped.' }],
    }
    const turn = turnOf(
      begin,
      ...say('0', 'One'),
      over('length'),
      begin,
      ...say('1', 'Two'),
      over(),
    )
    expect(promptOf(turn).slice(1)).toMatchObject([
      { role: 'assistant', content: [{ text: 'One' }] },
      goOn,
      { role: 'assistant', content: [{ text: 'Two' }] },
      goOn,
    ])
  })

  test('[ST3] of reasoning or blank text alone is left out', () => {
    const turn = turnOf(begin, ...say('0', 'Hm', 'reasoning'), ...say('1', ' \n'), over('stop'))
    expect(promptOf(turn)).toHaveLength(1)
  })

  test('[ST3] keeps the provider’s own calls and results inside, where they ended', () => {
    const own = { providerExecuted: true, name: 'web_search' } as const
    const lost = { ...own, id: parseCallId('c2'), providerCallId: 'call_2' }
    const turn = turnOf(
      begin,
      record(own),
      settle(succeeded([{ url: 'https://example.com' }])),
      record(lost),
      ...say('0', 'Found.'),
      over('stop'),
    )
    expect(promptOf(turn)[1]?.content).toMatchObject([
      { type: 'tool-call', toolCallId: 'call_1', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'call_1', output: { type: 'json' } },
      { type: 'text', text: 'Found.' },
    ])
  })
})

describe('a call in the prompt', () => {
  const decided = (decision: object, editedInput?: Json): TurnFact =>
    ({
      type: 'call-decided',
      callId,
      decision: { by: 'ana', at: 1, inputHash: 'h', ...decision },
      ...(editedInput === undefined ? {} : { editedInput }),
    }) as TurnFact

  test('[AP3] was called with the arguments that a person edited', () => {
    const providerMetadata = { demo: { itemId: 'stored-with-the-old-ones' } }
    const turn = turnOf(
      begin,
      record({ providerMetadata }, { city: 'Oslo' }, 'required'),
      over(),
      decided({ kind: 'accepted' }, { city: 'Bergen' }),
      settle(succeeded('rain')),
    )
    expect(callOf(turn)).toEqual({
      type: 'tool-call',
      toolCallId: 'call_1',
      toolName: 'weather',
      input: { city: 'Bergen' },
    })
  })

  test('[AP4] that was declined says so, with the feedback', () => {
    const turn = turnOf(
      begin,
      record({}, {}, 'required'),
      over(),
      decided({ kind: 'rejected', feedback: 'Ask Ben first.' }),
    )
    expect(resultOf(turn)).toEqual({
      type: 'error-text',
      value:
        'The user declined this call. It did not run and had no effect. Do not try it again ' +
        'unless the user asks for it. The user said: Ask Ben first.',
    })
  })

  test('[CR3] whose outcome is unknown is not said to have failed or succeeded', () => {
    const turn = turnOf(begin, record(), { type: 'call-started', callId }, over(), {
      type: 'call-settled',
      callId,
      outcome: { state: 'unknown', cause: 'crashed' },
    })
    expect(resultOf(turn)).toEqual({
      type: 'error-text',
      value:
        'The server stopped while this call was running, so its outcome is unknown. It may or may ' +
        'not have taken effect: do not assume either. Do not try it again unless the user asks for it.',
    })
  })

  test.each([
    ['{"city":"Os', { city: 'Os' }],
    ['', {}],
    ['Sorry', {}],
    ['[1,2', { value: [1] }],
  ])('[ST3] whose arguments ended as %j still has an object', (delta, input) => {
    const turn = turnOf(
      begin,
      { type: 'call-announced', callId, call: origin },
      { type: 'call-input-appended', callId, delta },
      settle({ state: 'interrupted', cause: 'over-limit' }),
      over('length'),
    )
    expect(callOf(turn)).toMatchObject({ input })
  })

  test('[ST3] of a tool that never was has a name that providers accept', () => {
    const failed = { state: 'failed', cause: 'unknown-tool', error: 'No such tool.' } as const
    const turn = turnOf(begin, record({ name: 'multi_tool.use now' }), settle(failed), over())
    expect(callOf(turn)).toMatchObject({ toolName: 'multi_tool_use_now' })
  })

  test('[LG10] keeps the id that its provider gave it, unless that came before', () => {
    const second = parseCallId('c2')
    const turn = turnOf(
      begin,
      record(),
      record({ id: second }),
      settle(succeeded(1)),
      settle(succeeded(2), second),
      over(),
    )
    expect(promptOf(turn)[2]?.content).toMatchObject([
      { toolCallId: 'call_1', output: { value: 1 } },
      { toolCallId: 'c2', output: { value: 2 } },
    ])
  })

  test.each<[Json]>([[''], [0], [false], [null], [[]], [{}]])(
    '[LG9] gives %j as its result',
    (value) => {
      const type = typeof value === 'string' ? 'text' : 'json'
      const turn = turnOf(begin, record(), settle(succeeded(value)), over())
      expect(resultOf(turn)).toEqual({ type, value })
    },
  )

  test('[ST3] says to the model what its tool says to models', () => {
    const told = { type: 'content', value: [{ type: 'text', text: 'short' }] }
    const turn = turnOf(begin, record(), settle(succeeded({ long: 'form' }, told)), over())
    expect(resultOf(turn)).toEqual(told)
    const broken = turnOf(begin, record(), settle(succeeded(1, { type: 'text' })), over())
    expect(resultOf(broken)).toEqual({ type: 'json', value: 1 })
  })

  test('[ST3] has its result cut where it is too long, never within a character', () => {
    const turn = turnOf(begin, record(), settle(succeeded('ab😀cd')), over())
    expect(resultOf(turn, 3)).toEqual({
      type: 'text',
      value: 'ab\n[Cut: 2 of 6 characters are shown.]',
    })
    const object = turnOf(begin, record(), settle(succeeded({ a: [1, 2, 3] })), over())
    expect(resultOf(object, 5)).toEqual({
      type: 'text',
      value: '{"a":\n[Cut: 5 of 13 characters are shown.]',
    })
    expect(resultOf(object, 13)).toEqual({ type: 'json', value: { a: [1, 2, 3] } })
  })

  test('[PG7] is never sent with what stands for a result that was left out', () => {
    const output = { kind: 'omitted', bytes: 20_000 } as const
    const turn = turnOf(begin, record(), settle({ state: 'succeeded', output }), over())
    expect(() => promptOf(turn)).toThrow(expect.objectContaining({ code: 'bad-request' }))
    const modelOutput = { type: 'text', value: 'short' }
    const told = turnOf(
      begin,
      record(),
      settle({ state: 'succeeded', output, modelOutput }),
      over(),
    )
    expect(resultOf(told)).toEqual(modelOutput)
  })
})

describe('a user message in the prompt', () => {
  const pixel = 'data:image/png;base64,AAAA'

  test('[LG6] brings its files', () => {
    const file = { type: 'file', mediaType: 'image/png', url: pixel, filename: 'a.png' } as const
    const local = { ...file, url: 'blob:1234' }
    expect(projectPrompt([user('Look', file, local)])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'file', mediaType: 'image/png', data: pixel, filename: 'a.png' },
          { type: 'text', text: '[The file a.png cannot be read here.]' },
        ],
      },
    ])
  })

  test('[ST3] joins one that was not answered', () => {
    expect(projectPrompt([user('One'), user(' '), user('Two')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      },
    ])
  })

  test('[ST3] of the system is an instruction at the beginning only', () => {
    const system: Message = { ...user('Be brief.'), role: 'system' } as Message
    expect(projectPrompt([system, user('Hi'), system]).map(({ role }) => role)).toEqual([
      'system',
      'user',
    ])
  })

  test('[ST3] stands before the model’s first word, even if nobody wrote it', () => {
    const turn = turnOf(begin, ...say('0', 'Welcome!'), over('stop'))
    expect(projectPrompt([turn, user('Hi')]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})
