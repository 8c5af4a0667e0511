import { describe, expect, test } from 'vitest'
import { parseCallId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import {
  begin,
  callId,
  origin,
  over,
  promptOf,
  record,
  textEvents,
  settle,
  succeeded,
  user,
} from '../../test/support/prompt-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { projectPrompt } from './model-prompt.ts'

describe('a step in the prompt', () => {
  test('[ST3] is the text of the model, then the results of its calls', () => {
    const turn = turnOf(
      begin,
      ...textEvents('0', 'Need the weather.', 'reasoning'),
      ...textEvents('1', 'Looking.'),
      record(),
      over(),
      settle(succeeded({ tempC: 20 })),
      { type: 'step-started', step: 1 },
      ...textEvents('2', 'It is 20.'),
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
        ...textEvents('0', 'Hm', 'reasoning'),
        ...textEvents('1', 'Look'),
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
      ...textEvents('0', 'Broken'),
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
    expect(
      promptOf(turnOf(begin, ...textEvents('0', 'Broken'), { type: 'step-abandoned' })),
    ).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  })

  test('[ST3] of text alone is followed by a request to continue, at the end and in between', () => {
    const continuation = {
      role: 'user',
      content: [{ type: 'text', text: 'Continue from where you stopped.' }],
    }
    const turn = turnOf(
      begin,
      ...textEvents('0', 'One'),
      over('length'),
      begin,
      ...textEvents('1', 'Two'),
      over(),
    )
    expect(promptOf(turn).slice(1)).toMatchObject([
      { role: 'assistant', content: [{ text: 'One' }] },
      continuation,
      { role: 'assistant', content: [{ text: 'Two' }] },
      continuation,
    ])
  })

  test('[ST3] of reasoning or blank text alone is left out', () => {
    const turn = turnOf(
      begin,
      ...textEvents('0', 'Hm', 'reasoning'),
      ...textEvents('1', ' \n'),
      over('stop'),
    )
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
      ...textEvents('0', 'Found.'),
      over('stop'),
    )
    expect(promptOf(turn)[1]?.content).toMatchObject([
      { type: 'tool-call', toolCallId: 'call_1', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'call_1', output: { type: 'json' } },
      { type: 'text', text: 'Found.' },
    ])
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

  // The SDK refuses such a file, and with it every later message of the thread.
  test.each(['application/octet-stream', 'png', ''])(
    '[ST3] replaces a file of the type %j by a note',
    (mediaType) => {
      const file = { type: 'file', mediaType, url: pixel, filename: 'a.bin' } as const
      expect(projectPrompt([user(file)])).toEqual([
        {
          role: 'user',
          content: [{ type: 'text', text: '[The file a.bin cannot be read here.]' }],
        },
      ])
    },
  )

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

  test('[ST3] precedes the first message of the model, even if there is none', () => {
    const turn = turnOf(begin, ...textEvents('0', 'Welcome!'), over('stop'))
    expect(projectPrompt([turn, user('Hi')]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})
