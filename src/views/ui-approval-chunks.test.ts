import { describe, expect, test } from 'vitest'
import type { TurnEventBody } from '../core/event.ts'
import {
  accepted,
  begin,
  callId,
  chunksOf,
  completed,
  everyCut,
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

describe('the chunks of an approval', () => {
  const edited = { city: 'Bergen' }
  const bodies = [
    begin,
    record('required'),
    over,
    paused,
    accepted(edited),
    resumed,
    succeeded,
    completed,
  ]

  test('[AP1] end properly while the call waits', () => {
    expect(typesOf(chunksOf(bodies.slice(0, 4), [1, 2, 3, 4]))).toEqual([
      'start',
      'start-step',
      'tool-input-available',
      'tool-approval-request',
      'finish-step',
      'finish',
    ])
  })

  test.each([
    [undefined, ['start', 'tool-input-available']],
    [5, ['start', 'tool-input-available']],
    [6, ['start', 'tool-input-available']],
    [7, ['start', 'tool-approval-response', 'tool-input-available']],
  ] as const)('[AP3] bring the edited arguments (sdk %s)', (sdk, types) => {
    const sent = turnOf(...bodies.slice(0, 4))
    const cursor = createUiChunkCursor(sdk === undefined ? { sent } : { sdk, sent })
    const { chunks } = nextChunks(cursor, turnOf(...bodies.slice(0, 6)))
    expect(typesOf(chunks)).toEqual(types)
    expect(chunks.at(-1)).toMatchObject({ input: edited })
    expect(typesOf(nextChunks(cursor, turnOf(...bodies)).chunks)).toEqual([
      ...types,
      'tool-output-available',
      'finish',
    ])
  })

  test.each([
    [undefined, []],
    [5, []],
    [6, ['tool-approval-request']],
    [7, ['tool-approval-request', 'tool-approval-response']],
  ] as const)(
    '[AP7] replay the decision as far as the version has chunks for it (sdk %s)',
    (sdk, types) => {
      expect(typesOf(chunksOf(bodies, [bodies.length], sdk)).slice(3, -3)).toEqual(types)
    },
  )

  test('[CR3] bring a call back that a person has run again', () => {
    const started: TurnEventBody = { type: 'call-started', callId }
    const lost: TurnEventBody = {
      type: 'call-settled',
      callId,
      outcome: { state: 'unknown', cause: 'crashed' },
    }
    const retried: TurnEventBody = {
      type: 'call-resolved',
      callId,
      resolution: { kind: 'retry', by: 'ana', at: 1 },
    }
    const again = [begin, record('not-required'), started, lost, retried, started, succeeded]
    expect(typesOf(chunksOf(again, everyCut(again)))).toEqual([
      'start',
      'start-step',
      'tool-input-available',
      'tool-output-error',
      'tool-input-available',
      'tool-output-available',
    ])
  })

  test('[RS3] never make a second part of a call of an earlier step', () => {
    const lost: TurnEventBody = {
      type: 'call-settled',
      callId,
      outcome: { state: 'unknown', cause: 'crashed' },
    }
    const retried: TurnEventBody = {
      type: 'call-resolved',
      callId,
      resolution: { kind: 'retry', by: 'ana', at: 1 },
    }
    const late = [begin, record('not-required'), lost, over, begin, ...text, retried, succeeded]
    expect(typesOf(chunksOf(late, everyCut(late))).slice(-2)).toEqual([
      'text-delta',
      'tool-output-available',
    ])
  })
})
