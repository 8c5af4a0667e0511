import { describe, expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import { emptyTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import { projectChatMessage } from './chat-message.ts'
import { projectEntityRows } from './entity-rows.ts'
import { toKnownCall } from './known-call.ts'
import { projectToolCalls } from './tool-call-record.ts'
import { projectUiMessage } from './ui-message.ts'
import { projectVercelMessage } from './vercel-message.ts'

const base = {
  type: 'call',
  id: parseCallId('c'),
  providerCallId: 'c',
  name: 'tool',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 5,
} as const

const running = emptyTurn(parseMessageId('t'), 1, 0)
const over: Turn = {
  ...running,
  progress: { status: 'ended', ending: { kind: 'interrupted' }, endedAt: 9 },
}

/** A state of a later version, as a stored turn may contain it. */
const future = (fields: object): Call =>
  ({ ...base, state: 'hibernating', ...fields }) as unknown as Call

describe('a state that this version does not know', () => {
  it('[FD7] is success where there is a result', () => {
    const call = toKnownCall(future({ output: { kind: 'inline', value: 0 }, endedAt: 7 }), running)
    expect(call).toEqual({
      ...base,
      state: 'succeeded',
      output: { kind: 'inline', value: 0 },
      endedAt: 7,
    })
  })

  it('[FD7] is failure where there is an error, and else an interruption', () => {
    expect(toKnownCall(future({ error: 'no' }), running)).toMatchObject({
      state: 'failed',
      cause: 'tool-error',
    })
    expect(toKnownCall(future({}), running)).toMatchObject({ state: 'interrupted', endedAt: 5 })
    const call = { ...base, state: 'interrupted', cause: 'eclipse', endedAt: 7 } as unknown as Call
    expect(toKnownCall(call, running)).toMatchObject({ state: 'interrupted', cause: 'no-result' })
  })

  it('[FD7] is never "still running" in any view', () => {
    const step = { index: 0, status: 'open', startedAt: 0, parts: [future({})] } as const
    const turn: Turn = { ...running, steps: [step] }
    const shown = JSON.stringify([
      projectChatMessage(turn),
      projectEntityRows(turn),
      projectToolCalls(turn, 'thread', { include: 'all' }),
      projectUiMessage(turn),
      projectVercelMessage(turn),
    ])
    expect(shown).toContain('interrupted')
    expect(shown).not.toMatch(/hibernating|"isPartial":true|"(?:call|input-available|running)"[,}]/)
  })
})

describe('a call that is open in a turn that is over', () => {
  it.each(['streaming', 'awaiting-approval', 'ready'] as const)(
    '[FD7 CL9] %s is closed',
    (state) => {
      expect(toKnownCall({ ...base, state }, over)).toEqual({
        ...base,
        state: 'interrupted',
        cause: 'crashed',
        endedAt: 9,
      })
      expect(toKnownCall({ ...base, state }, running)).toEqual({ ...base, state })
    },
  )

  it('[FD7 CL9] and had started is of unknown outcome', () => {
    expect(toKnownCall({ ...base, state: 'running', startedAt: 6 }, over)).toMatchObject({
      state: 'unknown',
    })
  })
})
