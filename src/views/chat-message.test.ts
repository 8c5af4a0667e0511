import { describe, expect, it } from 'vitest'
import type { CallOutcome } from '../core/call.ts'
import { numberEvents, type TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import { projectChatMessage } from './chat-message.ts'

const at = (seconds: number) => new Date(seconds * 1000).toISOString()

describe('a turn', () => {
  it('[FD6] has the final response as its content, and each call with its commentary', () => {
    const turn = turnOf(
      [1, ...textEvents('Let me search.'), recorded('a'), started('a')],
      [3, settled('a', { state: 'succeeded', output: { kind: 'inline', value: [] } }), stepEnded],
      [4, { type: 'step-started', step: 1 }, ...textEvents('Once more.'), recorded('b')],
      [5, settled('b', { state: 'failed', cause: 'tool-error', error: 'No.' }), stepEnded],
      [6, { type: 'step-started', step: 2 }, ...textEvents('Nothing there.'), stepEnded],
      [6, { type: 'turn-ended', ending: { kind: 'completed' } }],
    )
    expect(projectChatMessage(turn)).toEqual({
      id: 'turn',
      role: 'assistant',
      content: 'Nothing there.',
      createdAt: at(1),
      toolCalls: [
        {
          id: 'a',
          name: 'search_notes',
          args: { q: 'a' },
          result: [],
          status: 'completed',
          state: 'succeeded',
          validated: 'not_required',
          commentary: 'Let me search.',
          step: 0,
          createdAt: at(1),
          startedAt: at(1),
          completedAt: at(3),
        },
        {
          id: 'b',
          name: 'search_notes',
          args: { q: 'b' },
          error: 'No.',
          status: 'error',
          state: 'failed',
          cause: 'tool-error',
          validated: 'not_required',
          commentary: 'Once more.',
          step: 1,
          createdAt: at(4),
          completedAt: at(5),
        },
      ],
      toolActivity: {
        isActive: false,
        total: 2,
        running: 0,
        waiting: 0,
        succeeded: 1,
        failed: 1,
        startedAt: at(1),
        endedAt: at(5),
      },
    })
  })

  it('[FD6] shows whether it runs, and which tool runs', () => {
    const counts = { total: 0, running: 0, waiting: 0, succeeded: 0, failed: 0 }
    const thinking = { ...counts, isActive: true }
    const activityOf = (...moments: readonly Moment[]) =>
      projectChatMessage(turnOf(...moments))?.toolActivity
    const done = settled('a', { state: 'succeeded', output: { kind: 'inline', value: [] } })
    const called: Moment = [2, recorded('a')]
    const ran: Moment = [3, started('a'), done, stepEnded]
    const since = { startedAt: at(2) }
    expect(activityOf([1])).toEqual(thinking)
    expect(activityOf([1, ...textEvents('Draft')])).toEqual(thinking)
    expect(activityOf([1, announced('a')])).toEqual({
      ...thinking,
      total: 1,
      running: 1,
      startedAt: at(1),
    })
    const running = { ...thinking, total: 1, running: 1, currentStep: 'search_notes', ...since }
    expect(activityOf(called)).toEqual(running)
    const between = { ...thinking, total: 1, succeeded: 1, ...since }
    expect(activityOf(called, ran)).toEqual(between)
    expect(activityOf(called, ran, [4, ...textEvents('So')])).toEqual(between)
    const completed: TurnEventBody = { type: 'turn-ended', ending: { kind: 'completed' } }
    const over = { ...between, isActive: false, endedAt: at(3) }
    expect(activityOf(called, ran, [4, ...textEvents('So'), stepEnded, completed])).toEqual(over)
    expect(activityOf([1, ...textEvents('Hello'), stepEnded, completed])).toEqual({
      ...counts,
      isActive: false,
    })
  })

  it('[FD6] names the last of several tools that run, and is at rest while it waits', () => {
    const calls: Moment = [
      1,
      recorded('a'),
      started('a'),
      recorded('b', 'required', 'delete_note'),
      recorded('c', 'not-required', 'read_note'),
      started('c'),
    ]
    const counts = { total: 3, running: 2, waiting: 1, succeeded: 0, failed: 0, startedAt: at(1) }
    const running = { isActive: true, currentStep: 'read_note', ...counts }
    expect(projectChatMessage(turnOf(calls))?.toolActivity).toEqual(running)
    const failed = (id: string) => settled(id, { state: 'failed', cause: 'timeout', error: 'No.' })
    const paused: TurnEventBody = { type: 'turn-paused', waitingFor: 'approval' }
    const waiting = turnOf(calls, [2, failed('a'), failed('c'), stepEnded, paused])
    expect(projectChatMessage(waiting)?.toolActivity).toEqual({
      ...counts,
      isActive: false,
      running: 0,
      failed: 2,
    })
  })

  it('[FD6] that has ended with nothing to show is no message; one that may still get text is', () => {
    expect(projectChatMessage(turnOf([1, ...textEvents('Draft')]))).toEqual({
      id: 'turn',
      role: 'assistant',
      content: '',
      createdAt: at(1),
      toolCalls: [],
      toolActivity: {
        isActive: true,
        total: 0,
        running: 0,
        waiting: 0,
        succeeded: 0,
        failed: 0,
      },
    })
    const ending = { kind: 'failed', error: { code: 'provider-error', message: 'No.' } } as const
    expect(projectChatMessage(turnOf([1, { type: 'turn-ended', ending }]))).toBeNull()
  })
})

it('[FD6] a user message has the same fields, and its files where there are some', () => {
  const message = { role: 'user', id: parseMessageId('u'), seq: 1, createdAt: 1000 } as const
  const shown = {
    id: 'u',
    role: 'user',
    content: 'See',
    createdAt: at(1),
    toolCalls: [],
    toolActivity: null,
  }
  expect(projectChatMessage({ ...message, parts: [{ type: 'text', text: 'See' }] })).toEqual(shown)
  const file = { mediaType: 'image/png', url: 'https://files.example/a.png', filename: 'a.png' }
  const parts = [{ type: 'text', text: 'See' } as const, { type: 'file', ...file } as const]
  expect(projectChatMessage({ ...message, parts })).toEqual({ ...shown, files: [file] })
})

let blocks = 0

function textEvents(text: string): readonly TurnEventBody[] {
  const block = String(blocks++)
  return [
    { type: 'text-started', block, kind: 'text' },
    { type: 'text-appended', block, delta: text },
  ]
}

function recorded(
  id: string,
  approval: 'required' | 'not-required' = 'not-required',
  name = 'search_notes',
): TurnEventBody {
  const callId = parseCallId(id)
  const call = { id: callId, providerCallId: id, name }
  return { type: 'call-recorded', callId, call, input: { q: id }, approval }
}

const announced = (id: string): TurnEventBody => ({
  type: 'call-announced',
  callId: parseCallId(id),
  call: { id: parseCallId(id), providerCallId: id, name: 'search_notes' },
})
const started = (id: string): TurnEventBody => ({ type: 'call-started', callId: parseCallId(id) })
const settled = (id: string, outcome: CallOutcome): TurnEventBody => ({
  type: 'call-settled',
  callId: parseCallId(id),
  outcome,
})
const stepEnded: TurnEventBody = { type: 'step-ended', finishReason: 'stop' }

type Moment = readonly [seconds: number, ...bodies: TurnEventBody[]]

function turnOf(...moments: readonly Moment[]): Turn {
  const turnId = parseMessageId('turn')
  const events = moments.flatMap(([seconds, ...bodies]) =>
    bodies.map((body) => ({ ...body, turnId, at: seconds * 1000 })),
  )
  return foldTurn(emptyTurn(turnId, 1, 1000), numberEvents(events, 1))
}
