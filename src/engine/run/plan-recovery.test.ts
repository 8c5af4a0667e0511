import { describe, expect, it } from 'vitest'
import {
  abandonedStep,
  callEvents,
  endedStep,
  openStep,
  textEvents,
} from '../../../test/support/turn-events.ts'
import type { TurnEventBody } from '../../core/event.ts'
import { foldOn } from '../../core/fold-turn.ts'
import { callsOf } from '../../core/message.ts'
import { turnOf } from '../../../test/support/turn-of.ts'
import { planRecovery } from './plan-recovery.ts'

const toolbox = {
  isRepeatable: (name: string) => name === 'repeatable',
  isDeferred: (name: string) => name === 'search',
}
const at = 5

/** Summarizes the events that recovery appends first. */
function recoveryOf(events: readonly TurnEventBody[]): readonly string[] {
  return planRecovery(turnOf(...events), toolbox, at).map((event) =>
    event.type === 'call-settled'
      ? `${event.callId} ${event.outcome.state}`
      : event.type === 'step-ended'
        ? `step-ended ${event.finishReason}`
        : event.type,
  )
}

const repeatable = { name: 'repeatable' } as const
const search = { name: 'search', providerExecuted: true } as const
const draw = { name: 'draw', providerExecuted: true } as const

type Case = readonly [string, readonly TurnEventBody[], readonly string[]]
const cases: readonly Case[] = [
  ['a turn without a step', [], []],
  ['a step that ended', endedStep(0, 'stop', textEvents('Hi')), []],
  ['a step that was given up before', abandonedStep(0, textEvents('Hi')), []],
  ['a step that had begun', openStep(0), ['step-abandoned']],
  ['a step with blank text', openStep(0, textEvents(' ')), ['step-abandoned']],
  [
    'a step whose call was arriving',
    openStep(0, callEvents('a', 'streaming')),
    ['a interrupted', 'step-ended interrupted'],
  ],
  [
    'a step with a call that was whole: it runs',
    openStep(0, textEvents('Hal'), callEvents('a', 'ready')),
    ['step-ended interrupted'],
  ],
  ['a call that had not begun', endedStep(0, 'tool-calls', callEvents('a', 'ready')), []],
  ['a call that had begun', endedStep(0, 'tool-calls', callEvents('a', 'running')), ['a unknown']],
  [
    'a call that had begun and may be repeated',
    endedStep(0, 'tool-calls', callEvents('a', 'running', repeatable)),
    [],
  ],
  ['a call that waits', endedStep(0, 'tool-calls', callEvents('a', 'waiting')), []],
  ['a call that was accepted', endedStep(0, 'tool-calls', callEvents('a', 'accepted')), []],
  ['a call that has ended', endedStep(0, 'tool-calls', callEvents('a', 'succeeded')), []],
  ['a call that is unknown', endedStep(0, 'tool-calls', callEvents('a', 'unknown')), []],
  [
    'each of several calls by itself',
    endedStep(
      0,
      'tool-calls',
      callEvents('a', 'succeeded'),
      callEvents('b', 'running'),
      callEvents('c', 'running', repeatable),
      callEvents('d', 'ready'),
    ),
    ['b unknown'],
  ],
  [
    'calls of an earlier step that were opened again',
    [...endedStep(0, 'tool-calls', callEvents('a', 'running')), ...openStep(1, textEvents('Hal'))],
    ['a unknown', 'step-abandoned'],
  ],
  [
    'a provider’s call whose arguments were arriving',
    openStep(0, callEvents('a', 'streaming', search)),
    ['a interrupted', 'step-ended interrupted'],
  ],
  [
    'a provider’s call of the step that broke off',
    openStep(0, callEvents('a', 'ready', search)),
    ['a interrupted', 'step-ended interrupted'],
  ],
  [
    'a provider’s call of a step that ended: its result may come',
    endedStep(0, 'stop', callEvents('a', 'ready', search)),
    [],
  ],
  [
    'the same, while a later step broke off',
    [...endedStep(0, 'stop', callEvents('a', 'ready', search)), ...openStep(1)],
    ['step-abandoned'],
  ],
  [
    'a provider’s call whose result does not come later',
    endedStep(0, 'stop', callEvents('a', 'ready', draw)),
    ['a interrupted'],
  ],
  [
    'a provider’s call that had begun is not unknown: it is not ours',
    endedStep(0, 'stop', callEvents('a', 'running', draw)),
    ['a interrupted'],
  ],
  [
    'a provider’s call that a person accepted: the provider has still to be sent it',
    openStep(0, callEvents('a', 'accepted', draw)),
    ['step-ended interrupted'],
  ],
  [
    'a provider’s call that waits for a person',
    endedStep(0, 'stop', callEvents('a', 'waiting', draw)),
    [],
  ],
]

describe.each(cases)('%s', (_, events, expected) => {
  it('[CR3] [CR4] [CR5] appends the events that close it', () => {
    expect(recoveryOf(events)).toEqual(expected)
  })

  it('[CR1] leaves no step open, and appends nothing when it is repeated', () => {
    const turn = turnOf(...events)
    const after = foldOn(turn, planRecovery(turn, toolbox, at))
    expect(after.steps.filter(({ status }) => status === 'open')).toEqual([])
    expect([...callsOf(after)].filter(({ state }) => state === 'streaming')).toEqual([])
    expect(planRecovery(after, toolbox, at)).toEqual([])
  })
})

describe('a step that had shown text', () => {
  it('[AG8] stays open, so that the model can continue it', () => {
    expect(recoveryOf(openStep(0, textEvents('Hal')))).toEqual([])
    expect(
      recoveryOf([
        ...endedStep(0, 'stop', callEvents('a', 'succeeded')),
        ...openStep(1, textEvents('Hal')),
      ]),
    ).toEqual([])
  })

  it('[AG8] is abandoned where a call of an earlier step has to settle first', () => {
    const events = [
      ...endedStep(0, 'tool-calls', callEvents('a', 'running', repeatable)),
      ...openStep(1, textEvents('Hal')),
    ]
    expect(recoveryOf(events)).toEqual(['step-abandoned'])
  })
})
