import { describe, expect, it } from 'vitest'
import { numberEvents, type TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { projectToolCall, projectToolCalls } from './tool-call-record.ts'

describe('the record of a call', () => {
  it('[CL8] has all that is known of it', () => {
    const turn = turnOf(
      [1, { type: 'step-started', step: 0 }],
      [2, { type: 'text-started', block: '0', kind: 'text' }],
      [2, { type: 'text-appended', block: '0', delta: ' I need your word for it.\n' }],
      [3, recorded('a', 'required')],
      [4, decided('a')],
      [5, { type: 'call-started', callId: parseCallId('a') }],
      [7, succeeded('a', { deleted: true })],
    )
    const [call] = [...callsOf(turn)]
    expect(projectToolCall(call!, turn, 'thread-1')).toEqual({
      id: 'a',
      providerCallId: 'call_0',
      messageId: 'turn',
      threadId: 'thread-1',
      name: 'delete_note',
      arguments: { title: 'Ideas' },
      result: { deleted: true },
      state: 'succeeded',
      isPartial: false,
      status: 'completed',
      validated: 'accepted',
      commentary: 'I need your word for it.',
      step: 0,
      createdAt: '1970-01-01T00:00:03.000Z',
      startedAt: '1970-01-01T00:00:05.000Z',
      completedAt: '1970-01-01T00:00:07.000Z',
      decision: {
        kind: 'accepted',
        by: 'ana',
        at: '1970-01-01T00:00:04.000Z',
        inputHash: 'hash',
      },
    })
  })

  it('[CL8] has an error and its cause in place of a result', () => {
    const outcome = { state: 'failed', cause: 'timeout', error: 'Too slow.' } as const
    const turn = turnOf(
      [1, recorded('a')],
      [2, { type: 'call-settled', callId: parseCallId('a'), outcome }],
    )
    const { toolCalls } = projectToolCalls(turn, 'thread-1', { include: 'all' })
    expect(toolCalls).toHaveLength(1)
    expect(toolCalls[0]).toMatchObject({ state: 'failed', cause: 'timeout', error: 'Too slow.' })
    expect(toolCalls[0]).not.toHaveProperty('result')
    expect(toolCalls[0]).not.toHaveProperty('startedAt')
  })
})

describe('the calls of a message', () => {
  const turn = turnOf(
    ...['open', 'good', 'bad', 'unsaid'].map((id) => [1, recorded(id)] as const),
    [2, { type: 'call-settled', callId: parseCallId('bad'), outcome: stopped }],
    [3, succeeded('good', null)],
  )
  const idsOf = (turn: Turn, include?: 'all') =>
    projectToolCalls(turn, 'thread-1', include && { include }).toolCalls.map(({ id }) => id)

  it('[CL9] are those that are open or succeeded, in call order, or with "all" every one', () => {
    expect(idsOf(turn)).toEqual(['open', 'good', 'unsaid'])
    expect(idsOf(turn, 'all')).toEqual(['open', 'good', 'bad', 'unsaid'])
  })

  it('[CL9] are complete when the turn has ended, and then only what succeeded is left', () => {
    expect(projectToolCalls(turn, 'thread-1').isComplete).toBe(false)
    const bodies = planTurnEnd(turn, { kind: 'interrupted' }, 5000)
    const over = foldTurn(turn, numberEvents(bodies, 100))
    expect(projectToolCalls(over, 'thread-1').isComplete).toBe(true)
    expect(idsOf(over)).toEqual(['good'])
  })

  it('[CL9] are partial only while they are open, and never after the end of the turn', () => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= 25; seed++) {
      const turns = new Map<string, Turn>()
      for (const event of numberEvents(randomLedger(seed), 1)) {
        if (!('turnId' in event)) continue
        const before = turns.get(event.turnId) ?? emptyTurn(event.turnId, event.seq, event.at)
        const turn = foldTurn(before, [event])
        turns.set(turn.id, turn)
        const { toolCalls, isComplete } = projectToolCalls(turn, 'thread-1', { include: 'all' })
        for (const call of toolCalls) {
          expect(call.isPartial).toBe(call.completedAt === undefined)
          expect(call.isPartial && isComplete).toBe(false)
          seen.add(`${call.state} ${call.isPartial}`)
        }
      }
    }
    expect(seen.size).toBe(10)
  })
})

const stopped = { state: 'stopped', cause: 'stopped' } as const

function recorded(
  id: string,
  approval: 'required' | 'not-required' = 'not-required',
): TurnEventBody {
  const callId = parseCallId(id)
  const call = { id: callId, providerCallId: 'call_0', name: 'delete_note' }
  return { type: 'call-recorded', callId, call, input: { title: 'Ideas' }, approval }
}

const decided = (id: string): TurnEventBody => ({
  type: 'call-decided',
  callId: parseCallId(id),
  decision: { kind: 'accepted', by: 'ana', at: 4000, inputHash: 'hash' },
})
const succeeded = (id: string, value: null | { readonly deleted: boolean }): TurnEventBody => ({
  type: 'call-settled',
  callId: parseCallId(id),
  outcome: { state: 'succeeded', output: { kind: 'inline', value } },
})

function turnOf(...bodies: readonly (readonly [seconds: number, body: TurnEventBody])[]): Turn {
  const turnId = parseMessageId('turn')
  const events = bodies.map(([seconds, body]) => ({ ...body, turnId, at: seconds * 1000 }))
  return foldTurn(emptyTurn(turnId, 1, 1000), numberEvents(events, 1))
}
