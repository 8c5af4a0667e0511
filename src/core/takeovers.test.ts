import { describe, expect, it } from 'vitest'
import { callEvents, endedStep, openStep, textEvents } from '../../test/support/turn-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import type { TurnEventBody } from './event.ts'

const takenOver: TurnEventBody = { type: 'turn-resumed', from: 'takeover' }
const handedOver: TurnEventBody = { type: 'turn-resumed', from: 'hand-over' }
const begun: TurnEventBody = { type: 'step-started', step: 0 }
const text = (words: string) => textEvents(words)
const broken: TurnEventBody = { type: 'step-abandoned' }

describe('takeovers of a turn', () => {
  it.each<readonly [string, readonly TurnEventBody[], object | undefined]>([
    ['none', [begun], undefined],
    [
      'that only began again',
      [takenOver, begun, takenOver, broken, begun, takenOver],
      { count: 3 },
    ],
    [
      'that get no further than the first',
      [begun, ...text('ab'), takenOver, broken, begun, ...text('ab'), takenOver],
      { count: 2, furthest: 2 },
    ],
    [
      'of which the last got further',
      [begun, ...text('ab'), takenOver, broken, begun, ...text('abc'), takenOver],
      { count: 1, furthest: 3 },
    ],
    ['before a step that ended', [takenOver, takenOver, ...endedStep(0, 'stop')], undefined],
    ['before a run that was given back', [takenOver, takenOver, handedOver], undefined],
    ['after it was given back', [takenOver, handedOver, takenOver], { count: 1 }],
    [
      'of a tool that kills its process',
      [...openStep(0, callEvents('c', 'running')), takenOver, takenOver],
      { count: 2 },
    ],
  ])('[AG7] %s', (_, events, takeovers) => {
    const turn = turnOf(...events)
    if (takeovers === undefined) expect(turn).not.toHaveProperty('takeovers')
    else expect(turn.takeovers).toMatchObject(takeovers)
  })

  it('[AG7] are no part of a turn that has ended', () => {
    const ended: TurnEventBody = { type: 'turn-ended', ending: { kind: 'completed' } }
    expect(turnOf(takenOver, ended)).not.toHaveProperty('takeovers')
  })
})
