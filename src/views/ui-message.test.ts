import { describe, expect, test } from 'vitest'
import type { CallOutcome, Decision } from '../core/call.ts'
import type { TurnEventBody } from '../core/event.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { ItemPart, Turn, TurnEnding, UserMessage } from '../core/message.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { projectUiMessage } from './ui-message.ts'
import type { UiOptions } from './ui-part.ts'
import type { SdkVersion } from './ui-vocabulary.ts'

const begin: TurnEventBody = { type: 'step-started', step: 0 }
const callId = parseCallId('c1')
const call = {
  id: callId,
  providerCallId: 'call_1',
  name: 'weather',
  title: 'Weather',
  providerMetadata: { demo: { itemId: 'i' } },
} as const
const input = { city: 'Oslo' }
const announced: TurnEventBody = { type: 'call-announced', callId, call }
const heard: TurnEventBody = { type: 'call-input-appended', callId, delta: '{"city":"Os' }
const record = (approval: 'required' | 'not-required'): TurnEventBody => ({
  type: 'call-recorded',
  callId,
  call,
  input,
  approval,
})
const free = record('not-required')
const requiresApproval = record('required')
const started: TurnEventBody = { type: 'call-started', callId }
const settled = (outcome: CallOutcome): TurnEventBody => ({ type: 'call-settled', callId, outcome })
const decided = (decision: Partial<Decision>): TurnEventBody => ({
  type: 'call-decided',
  callId,
  decision: { kind: 'accepted', by: 'ana', at: 1, inputHash: 'h', ...decision },
})
const partsOf = (turn: Turn, options: UiOptions = {}) => projectUiMessage(turn, options)?.parts
const toolOf = (bodies: readonly TurnEventBody[], sdk?: SdkVersion) =>
  partsOf(turnOf(begin, ...bodies), sdk === undefined ? {} : { sdk })?.[1]

const head = { type: 'tool-weather', toolCallId: 'c1' }
const extras = { title: 'Weather', callProviderMetadata: { demo: { itemId: 'i' } } }
const whole = { ...head, input, callProviderMetadata: { demo: { itemId: 'i' } } }
const approval = { id: 'approval-c1' }

describe('a call in a UI message', () => {
  test('[FD1] streams what is certain of its arguments', () => {
    const streaming = {
      ...head,
      state: 'input-streaming',
      input: { city: 'Os' },
      rawInput: '{"city":"Os',
    }
    expect(toolOf([announced, heard])).toEqual(streaming)
    expect(toolOf([announced, heard], 5)).toEqual(streaming)
    expect(toolOf([announced, heard], 6)).toEqual({ ...streaming, ...extras })
    expect(toolOf([announced], 7)).toEqual({ ...head, ...extras, state: 'input-streaming' })
  })

  test('[FD1] streams nothing that a client would refuse', () => {
    const delta = '{"a":1,"__proto__":{"b":2},"c":3}'
    expect(toolOf([announced, { type: 'call-input-appended', callId, delta }])).toEqual({
      ...head,
      state: 'input-streaming',
      input: { a: 1 },
      rawInput: '{"a":1,"__proto__',
    })
  })

  test('[FD1] that waits shows the request, where the client supports requests', () => {
    const requested = { ...whole, state: 'approval-requested', approval }
    expect(toolOf([requiresApproval])).toEqual(requested)
    expect(toolOf([requiresApproval], 5)).toEqual({ ...whole, state: 'input-available' })
    expect(toolOf([requiresApproval], 6)).toEqual({ ...requested, title: 'Weather' })
    expect(toolOf([requiresApproval], 7)).toEqual({ ...requested, title: 'Weather' })
  })

  test('[FD1] that is ready or running has its arguments', () => {
    expect(toolOf([free])).toEqual({ ...whole, state: 'input-available' })
    expect(toolOf([free, started])).toEqual({ ...whole, state: 'input-available' })
    expect(toolOf([requiresApproval, decided({})], 7)).toEqual({
      ...whole,
      title: 'Weather',
      state: 'input-available',
      approval: { ...approval, approved: true },
    })
  })

  test('[CL10] shows its progress as preliminary, and only its last result as its result', () => {
    const progressed = { type: 'call-progressed', callId, output: 0 } as const
    expect(toolOf([free, started, progressed])).toEqual({
      ...whole,
      state: 'output-available',
      output: 0,
      preliminary: true,
    })
    const done = settled({ state: 'succeeded', output: { kind: 'inline', value: null } })
    expect(toolOf([free, started, progressed, done])).toEqual({
      ...whole,
      state: 'output-available',
      output: null,
    })
  })

  test('[FD1] that was declined is denied, or failed where a client does not support denials', () => {
    const bodies = [
      requiresApproval,
      decided({ kind: 'rejected', feedback: 'No.', automatic: true }),
    ]
    const denied = { ...whole, state: 'output-denied' }
    const reason = { ...approval, approved: false, reason: 'No.' }
    expect(toolOf(bodies)).toEqual({ ...denied, approval: reason })
    expect(toolOf(bodies, 6)).toEqual({ ...denied, title: 'Weather', approval: reason })
    expect(toolOf(bodies, 7)).toEqual({
      ...denied,
      title: 'Weather',
      approval: { ...reason, isAutomatic: true },
    })
    expect(toolOf(bodies, 5)).toEqual({
      ...whole,
      state: 'output-error',
      errorText: 'Declined: No.',
    })
  })

  test('[FD1] without a request for approval cannot be denied', () => {
    const outcome = { state: 'denied', cause: 'superseded' } as const
    const errorText = 'Not run: you wrote again first.'
    expect(toolOf([free, settled(outcome)])).toEqual({ ...whole, state: 'output-error', errorText })
  })

  test.each<[CallOutcome]>([
    [{ state: 'failed', cause: 'tool-error', error: 'Not run: the server stopped.' }],
    [{ state: 'interrupted', cause: 'crashed' }],
  ])('[FD1] that ended as %o is an error', (outcome) => {
    const errorText = 'Not run: the server stopped.'
    expect(toolOf([free, settled(outcome)])).toEqual({ ...whole, state: 'output-error', errorText })
    expect(toolOf([announced, heard, settled(outcome)])).toEqual({
      ...head,
      state: 'output-error',
      input: { city: 'Os' },
      rawInput: '{"city":"Os',
      errorText,
    })
  })

  test('[PG7] links to a result that was left out', () => {
    const output = { kind: 'omitted', bytes: 20_000 } as const
    const turn = turnOf(begin, free, settled({ state: 'succeeded', output }))
    expect(partsOf(turn, { lazyHref: ({ id }) => `/calls/${id}` })?.[1]).toMatchObject({
      output: { 'holdfast:lazy': { bytes: 20_000, href: '/calls/c1' } },
    })
  })
})

describe('a turn as a UI message', () => {
  const text = (
    block: string,
    delta: string,
    kind: 'text' | 'reasoning' = 'text',
  ): TurnEventBody[] => [
    { type: 'text-started', block, kind },
    { type: 'text-appended', block, delta },
  ]
  const over: TurnEventBody = { type: 'step-ended', finishReason: 'stop' }

  test('[FD1] has its parts in the order they happened, and each step from its start', () => {
    const turn = turnOf(
      begin,
      ...text('0', 'Hm', 'reasoning'),
      ...text('1', 'Looking'),
      free,
      over,
      settled({ state: 'succeeded', output: { kind: 'inline', value: '' } }),
      begin,
      over,
      begin,
      ...text('0', '20°'),
    )
    expect(projectUiMessage(turn)).toEqual({
      id: turn.id,
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', id: '0', text: 'Hm', state: 'done' },
        { type: 'text', text: 'Looking', state: 'done' },
        { ...whole, state: 'output-available', output: '' },
        { type: 'step-start' },
        { type: 'text', text: '20°', state: 'streaming' },
      ],
    })
  })

  test('[FD3] without a part is no message', () => {
    expect(projectUiMessage(turnOf())).toBeNull()
    expect(projectUiMessage(turnOf(begin, over))).toBeNull()
    const end = (ending: TurnEnding): TurnEventBody => ({ type: 'turn-ended', ending })
    expect(projectUiMessage(turnOf(begin, over, end({ kind: 'completed' })))).toBeNull()
    expect(projectUiMessage(turnOf(begin, over, end({ kind: 'superseded' })))).toBeNull()
  })

  test('[ST2] that failed ends with a note, so that a reload shows it too', () => {
    const error = { code: 'overloaded', message: 'Try later.' }
    const ending = { kind: 'failed', error } as const
    const turn = turnOf(begin, ...text('0', 'Hi'), { type: 'turn-ended', ending })
    expect(partsOf(turn)?.at(-1)).toEqual({
      type: 'data-holdfast',
      id: 'holdfast',
      data: { status: 'failed', message: 'Try later.', canContinue: true },
    })
    expect(partsOf(turnOf({ type: 'turn-ended', ending }))).toHaveLength(1)
  })

  test('[FD7] shows what a version has no part for as the nearest thing, or not at all', () => {
    const url = 'data:image/png;base64,AA'
    const providerMetadata = { demo: {} }
    const items: ItemPart[] = [
      { type: 'reasoning-file', url, mediaType: 'image/png', providerMetadata },
      { type: 'custom', kind: 'demo.note' },
      { type: 'data', name: 'chart', id: 'x', data: [1] },
    ]
    const turn = turnOf(
      begin,
      ...items.map((item): TurnEventBody => ({ type: 'item-added', item })),
    )
    const data = { type: 'data-chart', id: 'x', data: [1] }
    const file = { type: 'file', url, mediaType: 'image/png' }
    expect(partsOf(turn)?.slice(1)).toEqual([file, data])
    expect(partsOf(turn, { sdk: 5 })?.slice(1)).toEqual([file, data])
    expect(partsOf(turn, { sdk: 6 })?.slice(1)).toEqual([{ ...file, providerMetadata }, data])
    expect(partsOf(turn, { sdk: 7 })?.slice(1)).toEqual([items[0], items[1], data])
  })

  test('[FD7] has no open call once it is over', () => {
    const turn = turnOf(begin, free, over)
    const progress = { status: 'ended', ending: { kind: 'completed' }, endedAt: 9 } as const
    expect(partsOf({ ...turn, progress })?.[1]).toMatchObject({ state: 'output-error' })
  })
})

test('[FD1] a user message is its parts', () => {
  const message: UserMessage = {
    role: 'user',
    id: parseMessageId('u1'),
    seq: 1,
    parts: [
      { type: 'text', text: 'Hi' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png', filename: 'a.png' },
    ],
    metadata: { from: 'phone' },
    createdAt: 1,
  }
  const { id, role, parts, metadata } = message
  expect(projectUiMessage(message)).toEqual({ id, role, parts, metadata })
})
