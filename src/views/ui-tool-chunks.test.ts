import { describe, expect, test } from 'vitest'
import type { TurnEventBody } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { Step, Turn } from '../core/message.ts'
import {
  announced,
  begin,
  call,
  callId,
  chunksOf,
  completed,
  everyCut,
  inputAppended,
  over,
  paused,
  record,
  resumed,
  succeeded,
  text,
  typesOf,
} from '../../test/support/call-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { createUiChunkCursor, nextChunks } from './ui-chunks.ts'

describe('the chunks of a turn', () => {
  const bodies = [
    begin,
    ...text,
    announced,
    inputAppended,
    record('not-required'),
    over,
    succeeded,
    completed,
  ]
  const start = { type: 'start', messageId: 'turn-test-1' }
  const available = {
    type: 'tool-input-available',
    toolCallId: 'c1',
    toolName: 'weather',
    input: { city: 'Oslo' },
  }
  const end = [
    { type: 'tool-output-available', toolCallId: 'c1', output: 20 },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'tool-calls' },
  ]

  test('[RS3] come as the AI SDK would send them', () => {
    expect(chunksOf(bodies, everyCut(bodies))).toEqual([
      start,
      { type: 'start-step' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Look' },
      { type: 'text-delta', id: '0', delta: 'ing' },
      { type: 'text-end', id: '0' },
      { type: 'tool-input-start', toolCallId: 'c1', toolName: 'weather' },
      { type: 'tool-input-delta', toolCallId: 'c1', inputTextDelta: '{"city":"Oslo"}' },
      available,
      ...end,
    ])
  })

  test('[RS3] are few when they are replayed', () => {
    expect(chunksOf(bodies, [bodies.length])).toEqual([
      start,
      { type: 'start-step' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Looking' },
      { type: 'text-end', id: '0' },
      available,
      ...end,
    ])
  })

  test('[LG5] are none when nothing changed, though every object is new', () => {
    const turn = turnOf(...bodies)
    const { cursor } = nextChunks(createUiChunkCursor({ sdk: 7 }), turn)
    expect(nextChunks(cursor, structuredClone(turn)).chunks).toEqual([])
    const sent = createUiChunkCursor({ sdk: 7, sent: turn })
    expect(nextChunks(sent, structuredClone(turn)).chunks).toEqual([])
  })

  test('[ST2] of a turn that failed end in its error', () => {
    const error = { code: 'x', message: 'Overloaded.' }
    const failed: TurnEventBody = { type: 'turn-ended', ending: { kind: 'failed', error } }
    expect(chunksOf([begin, ...text.slice(0, 2), failed], [1, 4]).slice(-6)).toEqual([
      { type: 'text-delta', id: '0', delta: 'Look' },
      { type: 'text-end', id: '0' },
      {
        type: 'data-holdfast',
        id: 'holdfast',
        data: { status: 'failed', message: 'Overloaded.', canContinue: true },
      },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'error' },
      { type: 'error', errorText: 'Overloaded.' },
    ])
  })

  test('[ST1] close on the wire what a stop closed in the ledger', () => {
    const stopped: TurnEventBody = { type: 'turn-ended', ending: { kind: 'stopped' } }
    const chunks = chunksOf([begin, ...text.slice(0, 2), record('not-required'), stopped], [4, 5])
    expect(typesOf(chunks).slice(-5)).toEqual([
      'text-end',
      'tool-output-error',
      'data-holdfast',
      'finish-step',
      'finish',
    ])
  })

  test('[FD1] replace data by its id, at any position', () => {
    const add = (data: Json): TurnEventBody => ({
      type: 'item-added',
      item: { type: 'data', name: 'chart', id: 'x', data },
    })
    const charts = [begin, add(1), over, begin, ...text, add(2)]
    expect(chunksOf(charts, everyCut(charts)).at(-1)).toEqual({
      type: 'data-chart',
      id: 'x',
      data: 2,
    })
    expect(typesOf(chunksOf(charts, [4, 9])).filter((type) => type === 'data-chart')).toHaveLength(
      2,
    )
  })

  test('[AP1] do not end a step whose text may still go on', () => {
    const open = [begin, ...text.slice(0, 2), paused, resumed, ...text.slice(2), over]
    expect(typesOf(chunksOf(open, everyCut(open)))).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'finish',
      'start',
      'text-delta',
      'text-end',
      'finish-step',
    ])
  })

  test('[ST5] take back the note of an ending that was not the last', () => {
    const limited: TurnEventBody = { type: 'turn-ended', ending: { kind: 'step-limit' } }
    const sent = turnOf(begin, ...text, over, limited)
    const { chunks } = nextChunks(
      createUiChunkCursor({ sent }),
      turnOf(begin, ...text, over, limited, resumed),
    )
    expect(chunks).toEqual([
      start,
      {
        type: 'data-holdfast',
        id: 'holdfast',
        data: { status: 'running', message: '', canContinue: false },
      },
    ])
  })

  test('[RS3] do not cost more for what came before', () => {
    const turn = turnOf(begin, ...text, over, begin, ...text.slice(0, 2))
    const { cursor } = nextChunks(createUiChunkCursor(), turn)
    const [first, last] = turn.steps as [Step, Step]
    const untouchable = {
      ...first,
      get parts(): never {
        throw new Error('An old step was looked at again.')
      },
    }
    const before: Turn = { ...turn, steps: [untouchable, last] }
    const after = turnOf(begin, ...text, over, begin, ...text.slice(0, 3))
    const next: Turn = { ...after, steps: [untouchable, after.steps[1]!] }
    expect(nextChunks({ ...cursor, turn: before }, next).chunks).toEqual([
      { type: 'text-delta', id: '0', delta: 'ing' },
    ])
  })
})

test('[CL11] a call that is renamed is sent again, whether it streams or is complete', () => {
  const revise = (name: string, isPartial: boolean): TurnEventBody => ({
    type: 'call-revised',
    callId,
    name,
    input: { city: 'Oslo' },
    isPartial,
  })
  const dynamic: TurnEventBody = {
    type: 'call-announced',
    callId,
    call: { ...call, dynamic: true },
  }
  const bodies = [begin, dynamic, revise('search', true), revise('find', true), revise('x', false)]
  const sent = chunksOf(bodies, everyCut(bodies)).slice(2)
  expect(sent.map((chunk) => ('toolName' in chunk ? chunk.toolName : chunk.type))).toEqual([
    'weather',
    'search',
    'tool-input-delta',
    'find',
    'tool-input-delta',
    'x',
  ])
})

test('[RS3] keys that clients refuse do not end the stream', () => {
  const input = JSON.parse('{"__proto__":{"admin":true},"city":"Oslo"}') as Json
  const chunks = chunksOf([begin, record('not-required', input)], [2])
  expect(JSON.stringify(chunks)).not.toContain('__proto__')
  expect(chunks.at(-1)).toMatchObject({ input: { city: 'Oslo' } })
})
