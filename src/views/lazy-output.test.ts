import { expect, it } from 'vitest'
import { emptyTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import { projectChatMessage } from './chat-message.ts'
import { projectEntityRows } from './entity-rows.ts'
import { projectOutput } from './lazy-output.ts'
import { projectToolCalls } from './tool-call-record.ts'
import { projectUiMessage } from './ui-message.ts'
import { projectVercelMessage } from './vercel-message.ts'

it('[LG9] a result is a result whatever its value', () => {
  for (const value of ['', 0, false, null, [], {}]) {
    expect(projectOutput({ kind: 'inline', value })).toEqual(value)
  }
})

it('[PG7] a result that was left out is the same link in every view', () => {
  const turn: Turn = {
    ...emptyTurn(parseMessageId('t'), 1, 0),
    steps: [
      {
        index: 0,
        status: 'open',
        startedAt: 0,
        parts: [
          {
            type: 'call',
            id: parseCallId('c'),
            providerCallId: 'c',
            name: 'read',
            step: 0,
            input: { kind: 'complete', value: {} },
            approval: 'not-required',
            createdAt: 0,
            state: 'succeeded',
            output: { kind: 'omitted', bytes: 50_000 },
            endedAt: 1,
          },
        ],
      },
    ],
  }
  const options = { lazyHref: ({ id }: { readonly id: string }) => `/calls/${id}` }
  const lazy = { 'holdfast:lazy': { bytes: 50_000, href: '/calls/c' } }
  expect(projectUiMessage(turn, options)).toMatchObject({ parts: [{}, { output: lazy }] })
  expect(projectVercelMessage(turn, options)).toMatchObject({
    parts: [{ toolInvocation: { result: lazy } }],
  })
  expect(projectEntityRows(turn, options)).toMatchObject([{}, { content: { result: lazy } }])
  expect(projectChatMessage(turn, options)).toMatchObject({ toolCalls: [{ result: lazy }] })
  expect(projectToolCalls(turn, 'thread', options)).toMatchObject({ toolCalls: [{ result: lazy }] })
  expect(projectToolCalls(turn, 'thread')).toMatchObject({
    toolCalls: [{ result: { 'holdfast:lazy': { bytes: 50_000 } } }],
  })
})
