import { describe, expect, it } from 'vitest'
import type { CallState } from '../core/call.ts'
import { callsOf, isTurn, type Message } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

const read = (messages: readonly unknown[]) =>
  readLegacyMessages(messages, { format: 'auto', threadId: 'thread', at: 1_700_000_000_000 })
const shownOf = (messages: readonly unknown[]): readonly Message[] =>
  messagesOf(read(messages).events)
const callOf = (messages: readonly unknown[]) => {
  const turns = shownOf(messages).filter(isTurn)
  const calls = turns.flatMap((turn) => [...callsOf(turn)])
  expect(calls).toHaveLength(1)
  return calls[0]!
}

interface Marks {
  readonly validated?: unknown
  readonly isComplete?: unknown
  readonly result?: { readonly value: unknown }
}

const row = (id: string, entity: string, more: object) => ({
  id,
  entity,
  content: '',
  isComplete: true,
  toolCalls: [],
  ...more,
})

/** The same call in the format of each old system. */
const shapes: Readonly<Record<string, (marks: Marks) => readonly object[]>> = {
  'entity rows': ({ validated, isComplete, result }) => [
    row('1', 'USER', { content: 'Delete Ideas' }),
    row('2', 'AI_TOOL', {
      toolCalls: [
        { toolCallId: 'c', name: 'delete_note', arguments: '{"title":"Ideas"}', validated },
      ],
    }),
    ...(result === undefined
      ? []
      : [
          row('3', 'TOOL', {
            content: JSON.stringify({ tool_call_id: 'c', content: result.value }),
            isComplete,
          }),
        ]),
    row('4', 'AI_MESSAGE', { content: 'That was it.' }),
  ],
  'AI SDK 4 annotations': ({ validated, isComplete, result }) => [
    { id: '1', role: 'user', content: 'Delete Ideas' },
    {
      id: '2',
      role: 'assistant',
      content: 'That was it.',
      parts: [
        {
          type: 'tool-invocation',
          toolInvocation: {
            state: result === undefined ? 'call' : 'result',
            toolCallId: 'c',
            toolName: 'delete_note',
            args: { title: 'Ideas' },
            ...(result === undefined ? {} : { result: result.value }),
          },
        },
        { type: 'text', text: 'That was it.' },
      ],
      annotations: [{ toolCallId: 'c', validated, isComplete }],
    },
  ],
  'toolCalls of a message': ({ validated, isComplete, result }) => [
    { id: '1', role: 'user', content: 'Delete Ideas' },
    {
      id: '2',
      role: 'assistant',
      content: 'That was it.',
      toolCalls: [
        {
          id: 'c',
          name: 'delete_note',
          args: { title: 'Ideas' },
          validated,
          isComplete,
          ...(result === undefined ? {} : { result: result.value }),
        },
      ],
    },
  ],
}

const accepted = [true, 1, 'true', 'accepted', 'ACCEPTED', ' Accepted ', 'approved'] as const
const rejected = [false, 0, 'false', 'rejected', 'REJECTED', 'Rejected', 'denied'] as const
const free = [
  null,
  undefined,
  'not_required',
  'NOT_REQUIRED',
  'not required',
  'not-required',
] as const
const pending = ['pending', 'PENDING'] as const
const whole = [true, undefined, null, 1, 'true'] as const
const cut = [false, 0, 'false', 'FALSE'] as const

const none: Marks['result'] = undefined
const value = { value: { deleted: true } }
const empty = [{ value: null }, { value: '' }] as const
const error = { value: { error: 'The note is locked.' } }

/** One line for each cell of the table. */
const cells: readonly (readonly [
  readonly unknown[],
  readonly unknown[],
  Marks['result'],
  CallState,
])[] = [
  [[...accepted, ...free], whole, none, 'interrupted'],
  [[...accepted, ...free], whole, value, 'succeeded'],
  [[...accepted, ...free], whole, empty[0], 'succeeded'],
  [[...accepted, ...free], whole, empty[1], 'succeeded'],
  [[...accepted, ...free], whole, error, 'failed'],
  [[...accepted, ...free], cut, none, 'interrupted'],
  [[...accepted, ...free], cut, value, 'stopped'],
  [[...accepted, ...free], cut, empty[0], 'interrupted'],
  [[...accepted, ...free], cut, empty[1], 'interrupted'],
  [[...accepted, ...free], cut, error, 'interrupted'],
  [pending, [...whole, ...cut], none, 'interrupted'],
  [pending, whole, value, 'succeeded'],
  [pending, whole, error, 'failed'],
  [pending, cut, value, 'stopped'],
  [pending, cut, error, 'interrupted'],
  [rejected, [...whole, ...cut], none, 'denied'],
  [rejected, [...whole, ...cut], value, 'denied'],
  [rejected, [...whole, ...cut], empty[0], 'denied'],
  [rejected, [...whole, ...cut], empty[1], 'denied'],
  [rejected, [...whole, ...cut], error, 'denied'],
]

describe.each(Object.entries(shapes))('a call in %s', (_, toMessages) => {
  it.each(cells)(
    '[LE4 LE6] validated %j, isComplete %j, result %j: it is %s',
    (validations, completions, result, state) => {
      for (const validated of validations) {
        for (const isComplete of completions) {
          const marks = { validated, isComplete, ...(result === undefined ? {} : { result }) }
          const call = callOf(toMessages(marks))
          expect({ ...marks, state: call.state }).toEqual({ ...marks, state })
          const isAccepted = accepted.some((word) => word === validated)
          expect(call.decision?.kind === 'accepted').toBe(isAccepted)
        }
      }
    },
  )

  it('[LE6] keeps and reports the partial output of a call that was cut off', () => {
    const messages = toMessages({ validated: null, isComplete: false, result: value })
    expect(read(messages).mended.map(({ what }) => what)).toEqual([
      'The call of delete_note is marked as not complete: it is stopped, and what it had given is kept beside it.',
    ])
    const [, shown] = shownOf(messages).map((message) => projectChatMessage(message))
    expect(shown?.toolCalls).toMatchObject([
      { state: 'stopped', status: 'error', partialResult: value.value },
    ])
  })

  it('[LE6] shows in every format that a refused call was refused, and never as done', () => {
    const [, turn] = shownOf(toMessages({ validated: false, isComplete: true, result: value }))
    expect(projectVercelMessage(turn!)?.annotations?.[0]).toEqual({
      toolCallId: 'c',
      validated: 'rejected',
      isComplete: true,
    })
    expect(projectEntityRows(turn!)[0]?.toolCalls[0]).toMatchObject({ validated: 'rejected' })
    expect(projectChatMessage(turn!)?.toolCalls[0]).toMatchObject({
      status: 'error',
      state: 'denied',
    })
    expect(projectUiMessage(turn!, { sdk: 7 })?.parts).toContainEqual(
      expect.objectContaining({ type: 'tool-delete_note', state: 'output-denied' }),
    )
  })
})

describe('the status of a call', () => {
  it.each([
    ['completed', 'succeeded'],
    ['rejected', 'denied'],
    ['Denied', 'denied'],
    ['cancelled', 'stopped'],
    ['stopped', 'stopped'],
    ['interrupted', 'interrupted'],
    ['failed', 'failed'],
    ['timeout', 'failed'],
  ])('[LE6] with the status %s and a result it is %s', (status, state) => {
    const call = { id: 'c', name: 'search', args: {}, status, result: [1] }
    expect(callOf([{ role: 'assistant', content: 'Done.', toolCalls: [call] }]).state).toBe(state)
  })

  it('[LE6] an unknown value of `validated` is ignored and reported', () => {
    const { mended } = read(shapes['entity rows']!({ validated: 'perhaps', result: value }))
    expect(mended.map(({ what }) => what)).toEqual([
      'What it says of "validated", "perhaps", is not known.',
    ])
  })
})

describe('after export and import', () => {
  const formats: Readonly<Record<string, (messages: readonly Message[]) => readonly object[]>> = {
    ui: (messages) => messages.flatMap((message) => projectUiMessage(message, { sdk: 7 }) ?? []),
    vercel: (messages) => messages.flatMap((message) => projectVercelMessage(message) ?? []),
    entities: (messages) => messages.flatMap((message) => projectEntityRows(message)),
    chat: (messages) => messages.flatMap((message) => projectChatMessage(message) ?? []),
  }

  it.each(Object.entries(formats))(
    '[LE6] a call keeps its state and what it gave, as %s',
    (_, write) => {
      for (const [validations, completions, result] of cells) {
        const marks = { validated: validations[0], isComplete: completions[0] }
        const given = { ...marks, ...(result === undefined ? {} : { result }) }
        for (const toMessages of Object.values(shapes)) {
          const first = shownOf(toMessages(given))
          const again = shownOf(JSON.parse(JSON.stringify(write(first))) as unknown[])
          expect(write(again)).toEqual(write(first))
          expect(formats['chat']!(again)).toMatchObject(
            formats['chat']!(first).map((message) => ({
              toolCalls: (message as { toolCalls: readonly object[] }).toolCalls.map(outcomeOf),
            })),
          )
        }
      }
    },
  )

  it.each(Object.entries(formats))(
    '[LE6 LG9] a success whose value is an error, or nothing, is a success, as %s',
    (_, write) => {
      for (const output of [{ error: 'no such city' }, null, '', 0, false, [], {}, { error: 1 }]) {
        const part = {
          type: 'tool-x',
          toolCallId: 'c',
          state: 'output-available',
          input: {},
          output,
        }
        const first = shownOf([{ id: 'a', role: 'assistant', parts: [part] }])
        const again = shownOf(JSON.parse(JSON.stringify(write(first))) as unknown[])
        const calls = again.filter(isTurn).flatMap((turn) => [...callsOf(turn)])
        expect(calls).toMatchObject([
          { state: 'succeeded', output: { kind: 'inline', value: output } },
        ])
      }
    },
  )
})

function outcomeOf(call: object): object {
  const {
    state,
    validated,
    status,
    result,
    error: why,
    partialResult,
  } = call as Record<string, unknown>
  return JSON.parse(
    JSON.stringify({ state, validated, status, result, error: why, partialResult }),
  ) as object
}
