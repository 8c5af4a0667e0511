import { describe, expect, test } from 'vitest'
import type { CallOutcome } from '../core/call.ts'
import type { TurnEventBody } from '../core/event.ts'
import { parseCallId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import {
  begin,
  callId,
  callOf,
  origin,
  over,
  promptOf,
  record,
  resultOf,
  settle,
  succeeded,
} from '../../test/support/prompt-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'

describe('a call in the prompt', () => {
  const decided = (decision: object, editedInput?: Json): TurnEventBody =>
    ({
      type: 'call-decided',
      callId,
      decision: { by: 'ana', at: 1, inputHash: 'h', ...decision },
      ...(editedInput === undefined ? {} : { editedInput }),
    }) as TurnEventBody

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

  test('[AP4] that was declined is sent with the feedback', () => {
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

  test('[CR3] whose outcome is unknown is sent as neither failed nor succeeded', () => {
    const turn = turnOf(begin, record(), { type: 'call-started', callId }, over(), {
      type: 'call-settled',
      callId,
      outcome: { state: 'unknown', cause: 'crashed' },
    })
    expect(resultOf(turn)).toEqual({
      type: 'error-text',
      value:
        'This call was running when the work was broken off, so its outcome is unknown. It may or may ' +
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

  // A name that no tool had: called in vain, cut off before the error was recorded, or from old data.
  test.each<[string, CallOutcome]>([
    ['in vain', { state: 'failed', cause: 'unknown-tool', error: 'No such tool.' }],
    ['when the server stopped', { state: 'interrupted', cause: 'crashed' }],
    ['elsewhere', succeeded('done')],
  ])('[ST3] that was called %s has a name that providers accept', (_, outcome) => {
    const turn = turnOf(begin, record({ name: 'multi_tool.use now' }), settle(outcome), over())
    expect(callOf(turn)).toMatchObject({ toolName: 'multi_tool_use_now' })
    const nameless = turnOf(begin, record({ name: '' }), settle(outcome), over())
    expect(callOf(nameless)).toMatchObject({ toolName: 'unknown' })
  })

  test.each<[Json, Json]>([
    ['Oslo', { value: 'Oslo' }],
    [['Oslo'], { value: ['Oslo'] }],
    [0, { value: 0 }],
    [null, {}],
  ])('[ST3] whose arguments were %j, as in old data, has an object', (input, sent) => {
    expect(callOf(turnOf(begin, record({}, input), settle(succeeded(1)), over()))).toMatchObject({
      input: sent,
    })
  })

  test('[ST3] keeps arguments that are text to a provider that has such tools', () => {
    const call = record({ providerMetadata: { openai: { itemId: 'ctc_1' } } }, 'SELECT 1')
    expect(callOf(turnOf(begin, call, settle(succeeded(1)), over()))).toMatchObject({
      input: 'SELECT 1',
    })
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

  // Anthropic accepts letters, digits, `_` and `-`; OpenAI accepts 40 of them.
  test.each([
    ['functions.search:0', 'c1', 'c1'],
    [`chatcmpl-tool-${'0'.repeat(32)}`, 'c1', 'c1'],
    ['call|fc', 'message 1 – call 1', 'call_0'],
  ])(
    '[ST3] with the id %j of another provider has one that all take',
    (providerCallId, own, id) => {
      const call = { ...origin, id: parseCallId(own), providerCallId }
      const turn = turnOf(begin, record(call), settle(succeeded(1), call.id), over())
      expect(callOf(turn)).toMatchObject({ toolCallId: id })
      expect(promptOf(turn)[2]?.content).toMatchObject([{ toolCallId: id }])
    },
  )

  test('[ST3] keeps the id and the name that a provider gave a call of its own', () => {
    const own = { providerExecuted: true, providerCallId: `ws_${'0'.repeat(48)}`, name: 'mcp.find' }
    const turn = turnOf(begin, record(own as never), settle(succeeded(1)), over('stop'))
    expect(callOf(turn)).toMatchObject({ toolCallId: own.providerCallId, toolName: 'mcp.find' })
  })

  test('[ST3] has no blank text in its model output', () => {
    const blank = { type: 'text', text: ' ' }
    const picture = { type: 'media', data: 'AAAA', mediaType: 'image/png' }
    const withOutput = (...value: readonly Json[]) =>
      turnOf(begin, record(), settle(succeeded(1, { type: 'content', value })), over())
    expect(resultOf(withOutput(blank, picture))).toEqual({ type: 'content', value: [picture] })
    expect(resultOf(withOutput(blank))).toEqual({ type: 'text', value: '' })
  })

  test.each<[Json]>([[''], [0], [false], [null], [[]], [{}]])(
    '[LG9] gives %j as its result',
    (value) => {
      const type = typeof value === 'string' ? 'text' : 'json'
      const turn = turnOf(begin, record(), settle(succeeded(value)), over())
      expect(resultOf(turn)).toEqual({ type, value })
    },
  )

  test('[ST3] is sent with its model output', () => {
    const modelOutput = { type: 'content', value: [{ type: 'text', text: 'short' }] }
    const turn = turnOf(begin, record(), settle(succeeded({ long: 'form' }, modelOutput)), over())
    expect(resultOf(turn)).toEqual(modelOutput)
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
    // By its JSON text, which may be six times as long as what it says.
    const escaped = turnOf(begin, record(), settle(succeeded({ a: '\u0001'.repeat(5) })), over())
    expect(resultOf(escaped, 37)).toMatchObject({ type: 'text' })
    expect(resultOf(escaped, 38)).toMatchObject({ type: 'json' })
  })

  test('[PG7] is never sent with the placeholder of a result that was left out', () => {
    const output = { kind: 'omitted', bytes: 20_000 } as const
    const turn = turnOf(begin, record(), settle({ state: 'succeeded', output }), over())
    expect(() => promptOf(turn)).toThrow(expect.objectContaining({ code: 'bad-request' }))
    const modelOutput = { type: 'text', value: 'short' }
    const withModelOutput = turnOf(
      begin,
      record(),
      settle({ state: 'succeeded', output, modelOutput }),
      over(),
    )
    expect(resultOf(withModelOutput)).toEqual(modelOutput)
  })
})
