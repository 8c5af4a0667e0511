import { describe, expect, it } from 'vitest'
import type { CallOutcome } from '../core/call.ts'
import { numberEvents, type TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Message, Turn } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { projectVercelMessage } from './vercel-message.ts'

const created = '1970-01-01T00:00:01.000Z'
const oslo = { type: 'text', text: 'It is 12 °C in Oslo.' } as const

describe('a turn', () => {
  it('[FD2] is one message: reasoning, its text once, its calls, then the final text', () => {
    const turn = turnOf(
      ...[...textEvents('Two places.', 'reasoning'), ...textEvents('Looking up both.')],
      ...[
        ...call('a'),
        ...call('b'),
        ...succeed('b', 12),
        ...succeed('a', { tempC: 20 }),
        stepEnded,
      ],
      ...[...step(1), ...textEvents(oslo.text), stepEnded, ended('completed')],
    )
    expect(projectVercelMessage(turn)).toEqual({
      id: 'turn',
      role: 'assistant',
      content: oslo.text,
      createdAt: created,
      parts: [
        {
          type: 'reasoning',
          reasoning: 'Two places.',
          details: [{ type: 'text', text: 'Two places.' }],
        },
        { type: 'text', text: 'Looking up both.' },
        invocation('a', { state: 'result', result: { tempC: 20 } }),
        invocation('b', { state: 'result', result: 12 }),
        oslo,
      ],
      annotations: [
        { toolCallId: 'a', validated: 'not_required', isComplete: true },
        { toolCallId: 'b', validated: 'not_required', isComplete: true },
        { messageId: 'turn', isComplete: true },
      ],
    })
  })

  it('[FD2 IN3] has what was answered before a person spoke in its place, and the final text as its content', () => {
    const turn = turnOf(
      ...[...textEvents('Hello.'), stepEnded],
      ...[
        {
          type: 'input-joined',
          messageId: parseMessageId('st'),
          parts: [{ type: 'text', text: 'And Oslo?' }],
        } as const,
      ],
      ...[...step(1), ...call('a'), ...succeed('a', 12), stepEnded],
      ...[...step(2), ...textEvents(oslo.text), stepEnded, ended('completed')],
    )
    const message = projectVercelMessage(turn)
    expect(message?.content).toBe(oslo.text)
    expect(message?.parts?.map((part) => ('text' in part ? part.text : part.type))).toEqual([
      'Hello.',
      'tool-invocation',
      oslo.text,
    ])
    expect(message?.annotations?.[0]).toEqual({
      ...{ steering: 'st', step: 0, part: 1, text: 'And Oslo?' },
    })
  })

  it('[FD2] of text only has the text as its part and the one annotation', () => {
    expect(
      projectVercelMessage(turnOf(...textEvents(oslo.text), stepEnded, ended('completed'))),
    ).toEqual({
      id: 'turn',
      role: 'assistant',
      content: oslo.text,
      createdAt: created,
      parts: [oslo],
      annotations: [{ messageId: 'turn', isComplete: true }],
    })
  })

  it('[FD3] without a final text is still one message, with the same id on every read', () => {
    const turn = turnOf(...call('a'), ...succeed('a', 1), stepEnded, ended('superseded'))
    expect(projectVercelMessage(turn)).toEqual({
      id: 'turn',
      role: 'assistant',
      content: '',
      createdAt: created,
      parts: [invocation('a', { state: 'result', result: 1 })],
      annotations: [
        { toolCallId: 'a', validated: 'not_required', isComplete: true },
        { messageId: 'turn', isComplete: false },
      ],
    })
  })

  it('[FD3] without parts is no message', () => {
    expect(projectVercelMessage(turnOf())).toBeNull()
    expect(projectVercelMessage(turnOf(...step(0), ...textEvents(' '), stepEnded))).toBeNull()
  })

  it('[FD2 CO2] shows what is being written as a part, and as content once its step has ended', () => {
    const draft = projectVercelMessage(turnOf(...textEvents(oslo.text)))
    expect([draft?.content, draft?.parts]).toEqual(['', [oslo]])
    const answer = projectVercelMessage(turnOf(...textEvents(oslo.text), stepEnded))
    expect([answer?.content, answer?.parts]).toEqual([oslo.text, [oslo]])
  })

  it('[FD2] keeps an attempt that was broken off as a part, out of the content', () => {
    const turn = turnOf(
      ...[...textEvents('It is 1'), { type: 'step-abandoned' } as const],
      ...[...step(1), ...textEvents(oslo.text), stepEnded, ended('completed')],
    )
    const message = projectVercelMessage(turn)
    expect(message?.content).toBe(oslo.text)
    expect(message?.parts).toEqual([{ type: 'text', text: 'It is 1' }, oslo])
  })

  it('[FD2] has the final text as a part too, in all that can happen', () => {
    let answers = 0
    for (let seed = 1; seed <= 100; seed++) {
      for (const message of messagesOf(randomLedger(seed))) {
        const shown = projectVercelMessage(message)
        if (shown?.parts === undefined || shown.content === '') continue
        const texts = shown.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        expect(texts).toContain(shown.content)
        expect(shown.annotations?.at(-1)).toHaveProperty('messageId', shown.id)
        answers++
      }
    }
    expect(answers).toBeGreaterThan(30)
  })
})

describe('a call', () => {
  it('[FD2 FD4] that is open is shown as open, with the arguments so far', () => {
    const announced: TurnEventBody = {
      type: 'call-announced',
      callId: parseCallId('a'),
      call: origin('a'),
    }
    const delta: TurnEventBody = {
      type: 'call-input-appended',
      callId: parseCallId('a'),
      delta: '{"city":"Os',
    }
    const message = projectVercelMessage(turnOf(announced, delta, ...call('b', 'required')))
    expect(message?.parts).toEqual([
      invocation('a', { state: 'partial-call', args: { city: 'Os' } }),
      invocation('b', { state: 'call' }),
    ])
    expect(message?.annotations).toEqual([
      { toolCallId: 'a', validated: 'not_required', isComplete: true },
      { toolCallId: 'b', validated: 'pending', isComplete: true },
      { messageId: 'turn', isComplete: false },
    ])
  })

  it.each<readonly [string, CallOutcome, unknown, boolean]>([
    ['failed', { state: 'failed', cause: 'timeout', error: 'Too slow.' }, 'Too slow.', true],
    ['denied', { state: 'denied', cause: 'denied', feedback: 'no' }, 'Declined: no', true],
    ['stopped', { state: 'stopped', cause: 'stopped' }, 'Stopped before it ran.', false],
    [
      'interrupted',
      { state: 'interrupted', cause: 'crashed' },
      'Not run: the server stopped.',
      false,
    ],
  ])('[FD2] that %s has an error as its result', (_, outcome, error, isComplete) => {
    const message = projectVercelMessage(turnOf(...call('a'), settled('a', outcome)))
    expect(message?.parts).toEqual([invocation('a', { state: 'result', result: { error } })])
    const validated = outcome.state === 'denied' ? 'rejected' : 'not_required'
    expect(message?.annotations?.[0]).toEqual({ toolCallId: 'a', validated, isComplete })
  })
})

describe('a user message', () => {
  it('[FD2] has neither parts nor annotations; its files are attachments', () => {
    const message: Message = {
      role: 'user',
      id: parseMessageId('u'),
      seq: 1,
      createdAt: 1000,
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', url: 'https://files.example/a.png' },
        { type: 'file', mediaType: 'text/plain', url: 'data:,hi', filename: 'hi.txt' },
        { type: 'text', text: 'And that?' },
      ],
    }
    expect(projectVercelMessage(message)).toEqual({
      id: 'u',
      role: 'user',
      content: 'What is this?\n\nAnd that?',
      createdAt: created,
      experimental_attachments: [
        { contentType: 'image/png', url: 'https://files.example/a.png' },
        { name: 'hi.txt', contentType: 'text/plain', url: 'data:,hi' },
      ],
    })
    const bare = projectVercelMessage({ ...message, parts: [{ type: 'text', text: 'Hello' }] })
    expect(Object.keys(bare ?? {})).toEqual(['id', 'role', 'content', 'createdAt'])
  })
})

let blocks = 0

function textEvents(text: string, kind: 'text' | 'reasoning' = 'text'): readonly TurnEventBody[] {
  const block = String(blocks++)
  return [
    { type: 'text-started', block, kind },
    { type: 'text-appended', block, delta: text },
  ]
}

const origin = (id: string) => ({ id: parseCallId(id), providerCallId: id, name: 'weather' })

function call(
  id: string,
  approval: 'required' | 'not-required' = 'not-required',
): readonly TurnEventBody[] {
  const callId = parseCallId(id)
  return [{ type: 'call-recorded', callId, call: origin(id), input: { city: 'Oslo' }, approval }]
}

const settled = (id: string, outcome: CallOutcome): TurnEventBody => ({
  type: 'call-settled',
  callId: parseCallId(id),
  outcome,
})
const succeed = (
  id: string,
  value: number | { readonly tempC: number },
): readonly TurnEventBody[] => [
  settled(id, { state: 'succeeded', output: { kind: 'inline', value } }),
]
const step = (index: number): readonly TurnEventBody[] => [{ type: 'step-started', step: index }]
const stepEnded: TurnEventBody = { type: 'step-ended', finishReason: 'stop' }
const ended = (kind: 'completed' | 'superseded'): TurnEventBody => ({
  type: 'turn-ended',
  ending: { kind },
})

const invocation = (toolCallId: string, fields: object) => ({
  type: 'tool-invocation',
  toolInvocation: { step: 0, toolCallId, toolName: 'weather', args: { city: 'Oslo' }, ...fields },
})

function turnOf(...bodies: readonly TurnEventBody[]): Turn {
  const turnId = parseMessageId('turn')
  const events = bodies.map((body) => ({ ...body, turnId, at: 1000 }))
  return foldTurn(emptyTurn(turnId, 1, 1000), numberEvents(events, 1))
}
