import { describe, expect, it } from 'vitest'
import type { Message } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'
import { detectFormat } from './old-shapes.ts'

const read = (messages: readonly unknown[]) =>
  readLegacyMessages(messages, { format: 'auto', threadId: 'thread', at: 1_700_000_000_000 })
const shownOf = (messages: readonly unknown[]): readonly Message[] => {
  const { events, failed } = read(messages)
  expect(failed).toEqual([])
  return messagesOf(events)
}
const chatOf = (messages: readonly unknown[]) =>
  shownOf(messages).flatMap((message) => projectChatMessage(message) ?? [])

const weather = {
  type: 'tool-weather',
  toolCallId: 'c1',
  state: 'output-available',
  input: { city: 'Oslo' },
  output: { degrees: -3 },
}
const text = { type: 'text', text: 'It is cold.' }

describe('parts in the metadata', () => {
  it.each([
    ['alone', { parts: [weather, text] }],
    ['as JSON text', JSON.stringify({ parts: [weather, text] })],
    ['as JSON text in JSON text', { parts: JSON.stringify([weather, text]) }],
    ['with tools_used', { parts: [weather, text], tools_used: [{ tool: 'weather' }] }],
    ['with an empty tools_used', { parts: [weather, text], tools_used: [] }],
  ])('[LE2] are read: %s', (_, metadata) => {
    for (const own of [{}, { parts: [text] }, { parts: [] }]) {
      const message = { id: 'a', role: 'assistant', content: 'It is cold.', ...own, metadata }
      expect(chatOf([message])).toMatchObject([
        {
          id: 'a',
          content: 'It is cold.',
          toolCalls: [{ id: 'c1', name: 'weather', state: 'succeeded', result: { degrees: -3 } }],
        },
      ])
    }
  })

  it('[LE2] do not replace parts of the message that have calls, and what else is there is kept', () => {
    const metadata = { parts: [text], mood: 'calm' }
    const [message] = shownOf([
      { id: 'a', role: 'assistant', parts: [weather, text], metadata },
    ]).map((shown) => projectUiMessage(shown, { sdk: 7 }))
    expect(message).toMatchObject({ metadata: { mood: 'calm' } })
    expect(message?.parts).toContainEqual(weather)
  })

  it('[LE2] of a person are what the person wrote', () => {
    const file = { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }
    const metadata = { parts: [{ type: 'text', text: 'Look' }, file] }
    expect(chatOf([{ id: 'u', role: 'user', content: 'Look', metadata }])).toMatchObject([
      { content: 'Look', files: [{ url: file.url }] },
    ])
  })
})

describe('artifacts', () => {
  const afl = { type: 'tool-generate_afl_code', id: 'x1', language: 'afl', code: 'Buy = Cross();' }

  it.each([
    ['with code', afl, 'generate_afl_code'],
    ['of any payload', { type: 'tool-chart', series: [1, 2], title: 'Sales' }, 'chart'],
    ['with arguments', { ...afl, input: { topic: 'cross' } }, 'generate_afl_code'],
    ['of the type tool-artifact', { ...afl, type: 'tool-artifact' }, 'artifact'],
    ['of the type artifact', { ...afl, type: 'artifact', kind: 'code' }, 'code'],
    ['in one of their own', { type: 'artifact', artifact: { kind: 'code', code: 'x' } }, 'code'],
  ])('[LE7] %s keep their payload as the result of a call', (_, part, name) => {
    const { type: _type, input, ...payload } = part as typeof afl & { input?: object }
    for (const message of [
      { id: 'a', role: 'assistant', parts: [part, text] },
      { id: 'a', role: 'assistant', content: 'It is cold.', metadata: { parts: [part, text] } },
    ]) {
      const [shown] = chatOf([message])
      expect(shown?.toolCalls).toMatchObject([
        { name, state: 'succeeded', args: input ?? {}, result: payload },
      ])
      expect(shown?.content).toBe('It is cold.')
    }
  })

  it.each([
    ['ui', (message: Message) => [projectUiMessage(message, { sdk: 7 })]],
    ['vercel', (message: Message) => [projectVercelMessage(message)]],
    ['entities', (message: Message) => projectEntityRows(message)],
    ['chat', (message: Message) => [projectChatMessage(message)]],
  ] as readonly (readonly [string, (message: Message) => readonly unknown[]])[])(
    '[LE7] come back after export and import as %s',
    (_, write) => {
      const first = shownOf([{ id: 'a', role: 'assistant', parts: [afl, text] }])
      const again = shownOf(JSON.parse(JSON.stringify(first.flatMap(write))) as unknown[])
      expect(again.map((message) => projectChatMessage(message)?.toolCalls)).toMatchObject([
        [
          {
            name: 'generate_afl_code',
            result: { code: 'Buy = Cross();', language: 'afl', id: 'x1' },
          },
        ],
      ])
    },
  )

  it('[LE7] a tool part that has lost its state is judged by what it has', () => {
    const base = { type: 'tool-x', toolCallId: 'c', input: {} }
    const stateOf = (more: object) =>
      chatOf([{ role: 'assistant', parts: [{ ...base, ...more }, text] }])[0]?.toolCalls[0]?.state
    expect(stateOf({ output: 0 })).toBe('succeeded')
    expect(stateOf({ args: {}, result: [] })).toBe('succeeded')
    expect(stateOf({ errorText: 'No.' })).toBe('failed')
    expect(stateOf({})).toBe('interrupted')
  })

  it('[LE7] an unknown part is kept as data, and reported', () => {
    const { events, mended } = read([
      { id: 'a', role: 'assistant', parts: [{ type: 'poll', options: [1] }, text] },
    ])
    expect(mended.map(({ what }) => what)).toEqual([
      'A part of the type "poll" is not known: it is kept as data.',
    ])
    const [shown] = messagesOf(events).map((message) => projectUiMessage(message, { sdk: 7 }))
    expect(shown?.parts).toContainEqual({ type: 'data-poll', data: { options: [1] } })
  })
})

describe('other names', () => {
  it.each([
    ['msg_content', { id: 1, role: 'user', msg_content: 'Hi' }],
    ['msgContent and sender', { id: 1, sender: 'user', msgContent: 'Hi' }],
    ['message', { id: 1, sender_type: 'USER', message: 'Hi' }],
    ['text', { id: 1, role: 'human', text: 'Hi' }],
    ['body', { id: 1, from: 'customer', body: 'Hi' }],
    ['a message inside', { id: 1, message: { role: 'user', content: 'Hi' } }],
    ['an author', { id: 1, author: { role: 'user' }, content: 'Hi' }],
    ['is_user', { id: 1, is_user: 1, text: 'Hi' }],
  ])('[LE7] a message is read by %s', (_, message) => {
    expect(chatOf([message])).toMatchObject([{ id: '1', role: 'user', content: 'Hi' }])
  })

  it('[LE7] rows are read by msg_content, and by names of other cases', () => {
    const rows = [
      { message_id: 1, entity_type: 'USER', msg_content: 'Weather?' },
      {
        message_id: 2,
        entity_type: 'AI_TOOL',
        msg_content: '{"text":"Looking."}',
        tool_calls: '[{"tool_call_id":"c","name":"weather","arguments":"{}","validated":null}]',
      },
      {
        message_id: 3,
        entity_type: 'TOOL',
        msg_content: '{"tool_call_id":"c","content":"cold"}',
        is_complete: 1,
      },
      { message_id: 4, entity_type: 'AI_MESSAGE', msg_content: 'It is cold.' },
    ]
    expect(chatOf(rows)).toMatchObject([
      { id: '1', content: 'Weather?' },
      {
        id: '4',
        content: 'It is cold.',
        toolCalls: [{ name: 'weather', result: 'cold', commentary: 'Looking.' }],
      },
    ])
  })

  it('[LE3 LE7] an old message that has toolActivity is an old message all the same', () => {
    const call = { id: 'c', name: 'search', args: {}, status: 'completed', result: 1 }
    const shown = chatOf([
      {
        id: 'a',
        role: 'assistant',
        content: 'Let me look.\n\nHere it is.',
        toolCalls: [
          { ...call, commentary: 'Let me look.' },
          { id: 'd', name: 'read', args: '{"page":1}', status: 'running' },
        ],
        toolActivity: { isActive: true, currentStep: 'read' },
      },
      { id: 'b', role: 'assistant', content: 'Hi.', toolActivity: { isActive: false } },
    ])
    expect(shown).toMatchObject([
      {
        content: 'Here it is.',
        toolCalls: [
          { state: 'succeeded', commentary: 'Let me look.' },
          { state: 'interrupted', args: { page: 1 } },
        ],
      },
      { id: 'b', content: 'Hi.' },
    ])
  })
})

describe('metadata of providers', () => {
  it('[LE2 FD1] is read as clients of the AI SDK accept it: an object for each provider', () => {
    const metadata = { openai: { id: 'x' }, other: 5 }
    const parts = [
      { ...weather, callProviderMetadata: metadata, resultProviderMetadata: { other: 'text' } },
      { ...text, providerMetadata: metadata },
    ]
    const [message] = shownOf([{ id: 'a', role: 'assistant', parts }])
    const shown = message === undefined ? undefined : projectUiMessage(message)
    expect(shown?.parts).toEqual([
      { type: 'step-start' },
      { ...weather, callProviderMetadata: { openai: { id: 'x' } } },
      { type: 'step-start' },
      { ...text, state: 'done', providerMetadata: { openai: { id: 'x' } } },
    ])
  })
})

const invocation = { state: 'result', toolCallId: 'c', toolName: 't', args: {}, result: 1 }
const call = { id: 'c', name: 't', args: {}, result: 1 }

describe('the format of a message', () => {
  it.each([
    ['ui', { parts: [{ type: 'step-start' }] }],
    ['ui', { content: 'x', parts: [{ type: 'tool-t', toolCallId: 'c' }] }],
    ['ui', { content: 'x', parts: [{ ...text, state: 'done' }] }],
    ['ui', { content: 'x', parts: [{ ...text, state: 'done' }], toolCalls: [] }],
    ['ui', { content: [{ type: 'tool-call', toolCallId: 'c' }] }],
    ['vercel', { content: 'Hi' }],
    ['vercel', { content: 'x', toolInvocations: [invocation] }],
    ['vercel', { parts: [{ type: 'tool-invocation', toolInvocation: invocation }] }],
    ['vercel', { content: 'x', parts: [text] }],
    ['tools-used', { content: 'x', metadata: { tools_used: [] } }],
    ['commentary', { content: 'x', toolCalls: [] }],
    ['commentary', { content: 'x', parts: [{ ...text, state: 'done' }], tool_calls: [call] }],
    ['entities', { entity: 'USER', content: 'x' }],
  ])('[LE1] is %s (%#)', (format, message) => {
    expect(detectFormat({ role: 'assistant', ...message })).toBe(format)
  })
})
