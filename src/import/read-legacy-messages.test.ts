import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyOldMessages } from '../../test/support/any-old-messages.ts'
import { isOpenState } from '../core/call.ts'
import type { NewEvent } from '../core/event.ts'
import { parseThreadId } from '../core/ids.ts'
import { planCommit } from '../store/plan-commit.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { findPromptProblem } from '../../test/support/prompt-problem.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectPrompt } from '../views/model-prompt.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

const formats = ['auto', 'ui', 'vercel', 'tools-used', 'commentary', 'entities'] as const
const read = (messages: readonly unknown[], format: (typeof formats)[number] = 'auto') =>
  readLegacyMessages(messages, { format, threadId: 'thread-1', at: 1_700_000_000_000 })

describe('whatever the data is', () => {
  it('[LE1 LG7 ST3] reading it throws nothing and gives events that a store and a model take', () => {
    fc.assert(
      fc.property(anyOldMessages(), fc.constantFrom(...formats), (messages, format) => {
        expectLegal(read(messages, format).events)
      }),
      {
        seed: 1,
        numRuns: 600,
        // A call that waits for a decision and has started is contradictory data.
        examples: [[[startedWhileWaiting, { role: 'user', content: 'Go on.' }], 'commentary']],
      },
    )
  })

  it('[LE5] reading it twice gives the same events', () => {
    fc.assert(
      fc.property(anyOldMessages(), fc.constantFrom(...formats), (messages, format) => {
        expect(read(messages, format)).toEqual(read(messages, format))
      }),
      { seed: 2, numRuns: 300 },
    )
  })

  it('[LE1 LG7] a message that can be read is not lost among those that cannot', () => {
    const good = { id: 'good', role: 'user', content: 'I am here.' }
    fc.assert(
      fc.property(fc.array(fc.anything()), fc.array(fc.anything()), (before, after) => {
        const { events } = read([...before, good, ...after])
        expect(events).toContainEqual({
          type: 'message-added',
          messageId: 'good',
          role: 'user',
          parts: [{ type: 'text', text: 'I am here.' }],
          at: 1_700_000_000_000,
        })
      }),
      { seed: 3, numRuns: 500 },
    )
  })

  it('[LE4] a thread that a dead process left reads with nothing open, in every format', () => {
    let open = 0
    for (let seed = 1; seed <= 100; seed++) {
      const messages = messagesOf(randomLedger(seed, { shape: 'crashed' }))
      const views = {
        ui: messages.map((message) => projectUiMessage(message)),
        vercel: messages.map((message) => projectVercelMessage(message)),
        commentary: messages.map((message) => projectChatMessage(message)),
        entities: messages.flatMap((message) => projectEntityRows(message)),
      }
      for (const [format, shown] of Object.entries(views)) {
        const { events, mended } = read(shown, format as keyof typeof views)
        expectLegal(events)
        open += mended.filter(({ what }) => what.includes('was left open')).length
      }
    }
    expect(open).toBeGreaterThan(50)
  })
})

const startedWhileWaiting = {
  role: 'assistant',
  toolCalls: [{ name: 'delete_note', state: 'awaiting-approval', startedAt: 1 }],
}

describe('ids', () => {
  const call = (id: string | undefined, name = 'search') => ({ id, name, args: {}, result: 1 })

  it('[LG10] a call id that comes again in a later message is derived, and the old one is kept beside it', () => {
    const turn = (id: string) => ({
      id,
      role: 'assistant',
      content: '',
      toolCalls: [call('call_0')],
    })
    const { events, mended } = read([turn('a'), turn('b')])
    const origins = events.flatMap((event) => (event.type === 'call-recorded' ? [event.call] : []))
    expect(origins).toEqual([
      { id: 'call_0', providerCallId: 'call_0', name: 'search' },
      { id: 'call_1d69058f7adc5f5d', providerCallId: 'call_0', name: 'search' },
    ])
    expect(mended).toEqual([
      {
        where: 'messages[1]',
        what: 'The call id "call_0" is in use: it became call_1d69058f7adc5f5d.',
      },
    ])
  })

  it('[LE5] what has no id gets one from its thread and its place, and from nothing else', () => {
    const list = [
      { role: 'user', content: 'a' },
      { role: 'assistant', toolCalls: [call(undefined)] },
    ]
    const idsIn = (threadId: string) =>
      readLegacyMessages(list, { format: 'auto', threadId, at: 0 }).events.flatMap((event) => [
        ...('messageId' in event ? [event.messageId] : []),
        ...(event.type === 'call-recorded' ? [event.turnId, event.callId] : []),
      ])
    expect(idsIn('one')).toEqual(idsIn('one'))
    expect(new Set([...idsIn('one'), ...idsIn('two')]).size).toBe(6)
  })

  it('[LE5] an id that is not valid, or that something else has, is not kept', () => {
    const { events } = readLegacyMessages(
      [
        { id: 'x'.repeat(201), role: 'user', content: 'long' },
        { id: 'a\u0000b', role: 'user', content: 'control' },
        { id: 'taken', role: 'user', content: 'taken' },
        { id: 7, role: 'user', content: 'number' },
        { id: { $oid: '65f1c0ffee' }, role: 'user', content: 'of MongoDB' },
      ],
      {
        format: 'auto',
        threadId: 'one',
        at: 0,
        isTaken: (kind, id) => `${kind} ${id}` === 'message taken',
      },
    )
    const ids = events.flatMap((event) => ('messageId' in event ? [event.messageId] : []))
    expect(ids.slice(0, 3).every((id) => /^msg_[\da-f]{16}$/.test(id))).toBe(true)
    expect(ids.slice(3)).toEqual(['7', '65f1c0ffee'])
  })
})

describe('messages of a model', () => {
  it('[LE1] have their parts as their content; a call in them is not a tool of the name "call"', () => {
    const { events, failed } = read([
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'weather', args: { city: 'Oslo' } },
        ],
      },
    ])
    expect(failed).toEqual([])
    expect(messagesOf(events).map((message) => projectChatMessage(message))).toMatchObject([
      { content: 'Weather?' },
      { toolCalls: [{ id: 'c', name: 'weather', state: 'interrupted', commentary: 'Looking.' }] },
    ])
  })
})

describe('dates', () => {
  it.each([
    ['2024-05-01T10:00:00.000Z', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00.123456+02:00', '2024-05-01T08:00:00.123Z'],
    ['2024-05-01 10:00:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01 10:00:00+0530', '2024-05-01T04:30:00.000Z'],
    ['2024-05-01', '2024-05-01T00:00:00.000Z'],
    [1_714_557_600_000, '2024-05-01T10:00:00.000Z'],
    [1_714_557_600.5, '2024-05-01T10:00:00.500Z'],
    ['1714557600000', '2024-05-01T10:00:00.000Z'],
    [253_402_300_800_000, '+010000-01-01T00:00:00.000Z'],
    ['+010000-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z'],
    ['Wed, 01 May 2024 10:00:00 GMT', '2024-05-01T10:00:00.000Z'],
    ['Wed May 01 2024 12:00:00 GMT+0200 (CEST)', '2024-05-01T10:00:00.000Z'],
    [{ $date: '2024-05-01T10:00:00Z' }, '2024-05-01T10:00:00.000Z'],
    [{ $date: { $numberLong: '1714557600000' } }, '2024-05-01T10:00:00.000Z'],
    [new Date('2024-05-01T10:00:00Z'), '2024-05-01T10:00:00.000Z'],
    [undefined, '2023-11-14T22:13:20.000Z'],
    ['yesterday', '2023-11-14T22:13:20.000Z'],
    [9e15, '2023-11-14T22:13:20.000Z'],
  ])('[LE1] %j is %s', (createdAt, expected) => {
    const { events } = read([{ id: 'm', role: 'user', content: '', createdAt }])
    expect(new Date(events[0]!.at).toISOString()).toBe(expected)
  })

  it.each([
    ['messages', { role: 'user' }],
    ['rows', { entity: 'USER' }],
  ])('[LE5] of %s are named where they cannot be read', (_, kind) => {
    const { mended } = read([
      { ...kind, id: 'a', content: '', createdAt: 'yesterday' },
      { ...kind, id: 'b', content: '', createdAt: null },
    ])
    expect(mended).toEqual([
      { where: 'messages[0]', what: 'Its date "yesterday" cannot be read: it was left out.' },
    ])
  })
})

/** One append of all of it to an empty thread is legal, and leaves nothing open. */
function expectLegal(events: readonly NewEvent[]): void {
  const plain = JSON.parse(JSON.stringify(events)) as NewEvent[]
  const plan = planCommit({ threadId: parseThreadId('t'), events: plain, expectedSeq: 0 })
  if ('kind' in plan) throw new Error(`illegal: ${JSON.stringify(plan)}`)
  for (const { progress } of plan.turns.values()) expect(progress.status).toBe('ended')
  for (const { lifecycle } of plan.calls)
    expect(lifecycle === 'skipped' || !isOpenState(lifecycle)).toBe(true)
  const ids = plan.newMessages.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const shown = messagesOf(events)
  expect(shown).toHaveLength(ids.length)
  expect(findPromptProblem(projectPrompt(shown))).toBeUndefined()
  for (const message of shown) {
    if (message.role === 'assistant') expect(message.progress.status).toBe('ended')
    for (const project of [projectUiMessage, projectVercelMessage, projectChatMessage]) {
      expect(() => project(message)).not.toThrow()
    }
    expect(() => projectEntityRows(message)).not.toThrow()
  }
}
