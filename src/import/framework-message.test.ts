import { describe, expect, it } from 'vitest'
import { messagesOf } from '../../test/support/messages-of.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { unwrapFrameworkMessage } from './old-shapes.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

/** The chat view of a list, and the report of reading it. */
function read(messages: readonly unknown[]) {
  const reading = readLegacyMessages(messages, {
    format: 'auto',
    threadId: 't',
    at: 1_700_000_000_000,
  })
  const shown = messagesOf(reading.events).flatMap((message) => projectChatMessage(message) ?? [])
  return { shown, failed: reading.failed, counts: reading.counts }
}

const call = { id: 'call-1', name: 'take_note', args: { text: 'that' } }

describe('rows of mastra_messages', () => {
  const row = (role: string, content: object) => ({
    id: `id-${role}`,
    thread_id: 't1',
    content: JSON.stringify({ format: 2, ...content }),
    role,
    type: 'v2',
    createdAt: role === 'user' ? '2026-11-17T06:04:35.341Z' : '2026-11-17T06:04:36.239Z',
    resourceId: 'ana',
  })
  const invocation = (more: object) => ({
    type: 'tool-invocation',
    toolInvocation: {
      toolCallId: 'call-1',
      toolName: 'take_note',
      args: { text: 'that' },
      ...more,
    },
  })
  const rows = (end: object) => [
    row('user', {
      parts: [{ type: 'text', text: 'Please note that.' }],
      content: 'Please note that.',
    }),
    row('assistant', {
      parts: [
        { type: 'text', text: 'Let me note that.' },
        invocation(end),
        { type: 'step-start', model: 'm' },
        { type: 'text', text: 'Done.' },
      ],
      toolInvocations: [invocation(end).toolInvocation],
      content: 'Done.',
      metadata: { modelId: 'm' },
    }),
  ]

  it('[LE1] are read with their calls, as text and as JSON', () => {
    const asText = rows({ state: 'result', result: { noted: true } })
    const asJson = asText.map((one) => ({ ...one, content: JSON.parse(one.content) as unknown }))
    for (const list of [asText, asJson]) {
      expect(read(list)).toMatchObject({
        failed: [],
        counts: { messages: 2, calls: 1 },
        shown: [
          { id: 'id-user', role: 'user', content: 'Please note that.' },
          {
            id: 'id-assistant',
            role: 'assistant',
            content: 'Done.',
            toolCalls: [
              {
                ...call,
                state: 'succeeded',
                result: { noted: true },
                commentary: 'Let me note that.',
              },
            ],
          },
        ],
      })
    }
  })

  it('[LE4] a call that a dead process left open is interrupted', () => {
    const { shown } = read(rows({ state: 'call' }))
    expect(shown[1]).toMatchObject({ toolCalls: [{ ...call, state: 'interrupted' }] })
  })
})

describe('messages of LangChain', () => {
  const tool_calls = [
    { id: 'call-1', name: 'take_note', args: { text: 'that' }, type: 'tool_call' },
  ]
  const parts = [
    ['HumanMessage', 'human', { content: 'Please note that.', id: 'm1' }],
    [
      'AIMessageChunk',
      'ai',
      { content: 'Let me note that.', id: 'm2', tool_calls, tool_call_chunks: [{}] },
    ],
    [
      'ToolMessage',
      'tool',
      { content: '{"noted":true}', id: 'm3', tool_call_id: 'call-1', name: 'take_note' },
    ],
    ['AIMessage', 'ai', { content: 'Done.', id: 'm4' }],
  ] as const
  const constructed = parts.map(([name, , kwargs]) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', name],
    kwargs: { ...kwargs, additional_kwargs: {}, response_metadata: {} },
  }))
  const stored = parts.map(([, type, data]) => ({ type, data }))

  it.each([
    ['as checkpoints have them', constructed],
    ['as messages_to_dict writes them', stored],
  ])('[LE1] are one turn with its call: %s', (_, messages) => {
    const { shown, failed } = read(messages)
    expect(failed).toEqual([])
    expect(shown).toMatchObject([
      { role: 'user', content: 'Please note that.' },
      {
        role: 'assistant',
        content: 'Done.',
        toolCalls: [{ ...call, state: 'succeeded', result: { noted: true } }],
      },
    ])
  })

  it('[LE6] a tool message that is marked as an error is a call that failed', () => {
    const messages = constructed.map((message) =>
      message.id.at(-1) === 'ToolMessage'
        ? { ...message, kwargs: { ...message.kwargs, content: 'No paper.', status: 'error' } }
        : message,
    )
    expect(read(messages).shown[1]).toMatchObject({ toolCalls: [{ ...call, state: 'failed' }] })
  })
})

it('[LE1] leaves what is of no framework as it is', () => {
  const others = [
    { role: 'user', content: '{"format": 3, "parts": []}' },
    { role: 'user', content: '{"format": 2}' },
    { lc: 1, type: 'constructor', id: ['langchain', 'prompts', 'Prompt'], kwargs: {} },
    { lc: 1, id: 'x', kwargs: {} },
  ]
  for (const other of others) expect(unwrapFrameworkMessage(other)).toBe(other)
})
