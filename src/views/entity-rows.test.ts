import { describe, expect, it } from 'vitest'
import type { CallOutcome } from '../core/call.ts'
import { numberEvents, type TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Turn } from '../core/message.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { type EntityRow, projectEntityRows } from './entity-rows.ts'

const date = '1970-01-01T00:00:01.000Z'
const row = (fields: Partial<EntityRow>) => ({
  messageId: 'turn',
  toolCalls: [],
  isComplete: true,
  creationDate: date,
  ...fields,
})

describe('rows', () => {
  it('[FD5] are AI_TOOL for a step with calls, TOOL for each that ended, AI_MESSAGE for the rest', () => {
    const turn = turnOf(
      ...[...textEvents('Looking.'), ...call('a'), ...call('b'), ...call('c')],
      ...[
        settled('a', success(0)),
        settled('b', { state: 'stopped', cause: 'stopped' }),
        stepEnded,
      ],
      ...[{ type: 'step-started', step: 1 } as const, ...textEvents('It is 0.'), stepEnded],
    )
    const toolCalls = ['a', 'b', 'c'].map((id) => ({
      id,
      name: 'weather',
      arguments: { city: 'Oslo' },
      validated: 'not_required' as const,
    }))
    expect(projectEntityRows(turn)).toEqual([
      row({ id: 'turn:0', entity: 'AI_TOOL', content: 'Looking.', toolCalls }),
      row({ id: 'a:result', entity: 'TOOL', content: { toolCallId: 'a', result: 0 } }),
      row({
        id: 'b:result',
        entity: 'TOOL',
        content: { toolCallId: 'b', result: { error: 'Stopped before it ran.' } },
        isComplete: false,
      }),
      row({ id: 'turn:1', entity: 'AI_MESSAGE', content: 'It is 0.' }),
    ])
  })

  it('[FD5] mark a step that was broken off as not complete', () => {
    const turn = turnOf(
      ...[...textEvents('It is'), { type: 'step-abandoned' } as const],
      ...[{ type: 'step-started', step: 1 } as const, ...textEvents('It is 0')],
    )
    expect(projectEntityRows(turn).map(({ content, isComplete }) => [content, isComplete])).toEqual(
      [
        ['It is', false],
        ['It is 0', false],
      ],
    )
  })

  it('[FD5] of people are USER and SYSTEM, with their files', () => {
    const message = { id: parseMessageId('u'), seq: 1, createdAt: 1000 }
    const file = { mediaType: 'image/png', url: 'https://files.example/a.png' }
    expect(
      projectEntityRows({
        ...message,
        role: 'user',
        parts: [
          { type: 'text', text: 'See' },
          { type: 'file', ...file },
        ],
      }),
    ).toEqual([row({ id: 'u', messageId: 'u', entity: 'USER', content: 'See', files: [file] })])
    expect(
      projectEntityRows({
        ...message,
        role: 'system',
        parts: [{ type: 'text', text: 'Be brief.' }],
      }),
    ).toEqual([row({ id: 'u', messageId: 'u', entity: 'SYSTEM', content: 'Be brief.' })])
  })

  it('[FD5] keep their ids while the turn goes on', () => {
    let rows = 0
    for (let seed = 1; seed <= 100; seed++) {
      const turns = new Map<string, Turn>()
      const seen = new Map<string, readonly string[]>()
      for (const event of numberEvents(randomLedger(seed), 1)) {
        if (!('turnId' in event)) continue
        const known = turns.get(event.turnId) ?? emptyTurn(event.turnId, event.seq, event.at)
        const turn = foldTurn(known, [event])
        const shown = projectEntityRows(turn)
        expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length)
        // A TOOL row can disappear, when a call with an unknown outcome is retried; rows of text cannot.
        const ids = shown.filter(({ entity }) => entity !== 'TOOL').map(({ id }) => id)
        const before = seen.get(turn.id) ?? []
        expect(ids.slice(0, before.length)).toEqual(before)
        turns.set(turn.id, turn)
        seen.set(turn.id, ids)
        rows = Math.max(rows, ids.length)
      }
    }
    expect(rows).toBeGreaterThan(3)
  })
})

let blocks = 0

function textEvents(text: string): readonly TurnEventBody[] {
  const block = String(blocks++)
  return [
    { type: 'text-started', block, kind: 'text' },
    { type: 'text-appended', block, delta: text },
  ]
}

function call(id: string): readonly TurnEventBody[] {
  const callId = parseCallId(id)
  const origin = { id: callId, providerCallId: id, name: 'weather' }
  const input = { city: 'Oslo' }
  return [{ type: 'call-recorded', callId, call: origin, input, approval: 'not-required' }]
}

const success = (value: number): CallOutcome => ({
  state: 'succeeded',
  output: { kind: 'inline', value },
})
const settled = (id: string, outcome: CallOutcome): TurnEventBody => ({
  type: 'call-settled',
  callId: parseCallId(id),
  outcome,
})
const stepEnded: TurnEventBody = { type: 'step-ended', finishReason: 'stop' }

function turnOf(...bodies: readonly TurnEventBody[]): Turn {
  const turnId = parseMessageId('turn')
  const events = bodies.map((body) => ({ ...body, turnId, at: 1000 }))
  return foldTurn(emptyTurn(turnId, 1, 1000), numberEvents(events, 1))
}
