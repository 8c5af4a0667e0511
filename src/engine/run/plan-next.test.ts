import { describe, expect, it } from 'vitest'
import {
  abandonedStep,
  callEvents,
  endedStep,
  textEvents,
} from '../../../test/support/turn-events.ts'
import type { TurnEventBody } from '../../core/event.ts'
import { turnOf } from '../../../test/support/turn-of.ts'
import { type NextOptions, planNext } from './plan-next.ts'

const options: NextOptions = {
  maxSteps: 3,
  unknownWaits: true,
  isExecutable: ({ name }) => name === 'tool',
  isKnown: (name) => name !== 'gone',
  isDeferred: (name) => name === 'search',
}
const provider = { name: 'search', providerExecuted: true } as const
const client = { name: 'client-tool' } as const
const settledIn = (id: string): TurnEventBody => ({
  type: 'call-settled',
  callId: id,
  outcome: { state: 'succeeded', output: { kind: 'inline', value: 1 } },
})

/** Summarizes the planned action. */
function next(events: readonly TurnEventBody[], change: Partial<NextOptions> = {}): string {
  const action = planNext(turnOf(...events), { ...options, ...change })
  switch (action.kind) {
    case 'step':
      return `step ${action.index}`
    case 'run-calls':
    case 'fail-calls':
      return `${action.kind} ${action.calls.map(({ id }) => id).join(' ')}`
    case 'wait':
      return `wait for ${action.waitingFor}`
    case 'end':
      return action.ending.kind === 'failed'
        ? `failed ${action.ending.error.code}`
        : action.ending.kind
    default:
      return action satisfies never
  }
}

type Case = readonly [string, readonly TurnEventBody[], string, Partial<NextOptions>?]
const all = (cases: readonly Case[]) =>
  cases.map(([title, events, expected, change = {}]) => [title, events, expected, change] as const)
const called = (...calls: readonly (readonly TurnEventBody[])[]) =>
  endedStep(0, 'tool-calls', ...calls)

describe('the model is called', () => {
  const cases: readonly Case[] = [
    ['at first', [], 'step 0'],
    ['after its calls have ended', called(callEvents('a', 'succeeded')), 'step 1'],
    ['again, after a step that broke off', abandonedStep(0, textEvents('Hal')), 'step 1'],
    [
      'again, although an outcome is unknown: it was when the step began',
      [...called(callEvents('a', 'unknown')), ...abandonedStep(1)],
      'step 2',
    ],
    ['after an unknown outcome that was skipped', called(callEvents('a', 'skipped')), 'step 1'],
    [
      'after an unknown outcome, where the model is sent that',
      called(callEvents('a', 'unknown')),
      'step 1',
      { unknownWaits: false },
    ],
    [
      'for the result that its provider owes',
      endedStep(0, 'stop', callEvents('a', 'ready', provider)),
      'step 1',
    ],
    [
      'after a call of its provider that a person accepted and that has ended',
      endedStep(0, 'stop', callEvents('a', 'accepted', provider), [settledIn('a')]),
      'step 1',
    ],
  ]
  it.each(all(cases))('[CR5] [CL3] %s', (_, events, expected, change) => {
    expect(next(events, change)).toBe(expected)
  })
})

describe('calls', () => {
  const cases: readonly Case[] = [
    ['run together', called(callEvents('a', 'ready'), callEvents('b', 'ready')), 'run-calls a b'],
    ['run when they were accepted', called(callEvents('a', 'accepted')), 'run-calls a'],
    ['run again when they had begun', called(callEvents('a', 'running')), 'run-calls a'],
    [
      'run while others wait for a person',
      called(callEvents('a', 'waiting'), callEvents('b', 'ready'), callEvents('c', 'unknown')),
      'run-calls b',
    ],
    [
      'run before the step that broke off is done again',
      [...called(callEvents('a', 'ready')), ...abandonedStep(1)],
      'run-calls a',
    ],
    [
      'of the client and of the provider are not ours to run',
      called(
        callEvents('a', 'ready', client),
        callEvents('b', 'ready', { ...provider, name: 'tool' }),
      ),
      'wait for client',
    ],
    [
      'fail when their tool is gone, before others run',
      called(callEvents('a', 'ready'), callEvents('b', 'ready', { name: 'gone' })),
      'fail-calls b',
    ],
    [
      'wait for a person also when their tool is gone',
      called(callEvents('a', 'waiting', { name: 'gone' })),
      'wait for approval',
    ],
    [
      'of a provider need no tool here',
      endedStep(
        0,
        'stop',
        callEvents('a', 'ready', { ...provider, name: 'gone' }),
        textEvents('Hi'),
      ),
      'completed',
    ],
  ]
  it.each(all(cases))('[CL3] [CL6] %s', (_, events, expected, change) => {
    expect(next(events, change)).toBe(expected)
  })
})

describe('it waits', () => {
  const waiting = callEvents('a', 'waiting')
  const unknown = callEvents('b', 'unknown')
  const atClient = callEvents('c', 'ready', client)
  const cases: readonly Case[] = [
    ['for an approval', called(waiting), 'wait for approval'],
    ['for a person who knows', called(unknown), 'wait for resolution'],
    ['for the client', called(atClient), 'wait for client'],
    ['for an approval first', called(atClient, unknown, waiting), 'wait for approval'],
    ['for the client last', called(atClient, unknown), 'wait for resolution'],
    [
      'for an approval of its provider’s call',
      endedStep(0, 'stop', callEvents('a', 'waiting', provider)),
      'wait for approval',
    ],
    [
      'for an approval also after a step that broke off',
      [...called(waiting), ...abandonedStep(1)],
      'wait for approval',
    ],
    [
      'for the client also after a step that broke off',
      [...called(atClient), ...abandonedStep(1)],
      'wait for client',
    ],
    [
      'before it says that the output was cut off',
      endedStep(0, 'length', waiting),
      'wait for approval',
    ],
  ]
  it.each(all(cases))('[AP1] [CR3] %s', (_, events, expected, change) => {
    expect(next(events, change)).toBe(expected)
  })
})

describe('it ends', () => {
  const one = (step: number) => endedStep(step, 'tool-calls', callEvents(`c${step}`, 'succeeded'))
  const owed = endedStep(0, 'stop', callEvents('a', 'ready', provider))
  const item = (value: object): readonly TurnEventBody[] => [
    { type: 'item-added', item: value as never },
  ]
  const cases: readonly Case[] = [
    ['with an answer', endedStep(0, 'stop', textEvents('Hi')), 'completed'],
    [
      'with an answer whatever the reason is called',
      endedStep(0, 'other', textEvents('Hi')),
      'completed',
    ],
    [
      'with a file',
      endedStep(0, 'stop', item({ type: 'file', url: 'u', mediaType: 'm' })),
      'completed',
    ],
    ['with data', endedStep(0, 'stop', item({ type: 'data', name: 'n', data: 1 })), 'completed'],
    ['without an answer: nothing', endedStep(0, 'stop'), 'no-answer'],
    ['without an answer: blanks', endedStep(0, 'stop', textEvents(' \n')), 'no-answer'],
    [
      'without an answer: thoughts',
      endedStep(0, 'stop', textEvents('Hm', '0', 'reasoning')),
      'no-answer',
    ],
    [
      'without an answer: a source',
      endedStep(0, 'stop', item({ type: 'source-url', sourceId: 's', url: 'u' })),
      'no-answer',
    ],
    ['without an answer after calls', [...one(0), ...endedStep(1, 'stop')], 'no-answer'],
    ['cut off', endedStep(0, 'length', textEvents('Hal')), 'cut-off'],
    ['cut off with calls', endedStep(0, 'length', callEvents('a', 'succeeded')), 'cut-off'],
    [
      'by the content filter',
      endedStep(0, 'content-filter', textEvents('H')),
      'failed content-filter',
    ],
    ['out of steps', [...one(0), ...one(1), ...one(2)], 'step-limit'],
    ['not yet out of steps', [...one(0), ...one(1)], 'step 2'],
    ['with as many steps again once it was continued', [0, 1, 2, 3].flatMap(one), 'step 4'],
    ['out of steps again', [0, 1, 2, 3, 4, 5].flatMap(one), 'step-limit'],
    [
      'when a provider says nothing of what it owes, twice',
      [
        ...owed,
        ...endedStep(1, 'stop', textEvents('wait')),
        ...endedStep(2, 'stop', textEvents('Hi')),
      ],
      'completed',
      { maxSteps: 10 },
    ],
    [
      'not after one step without text',
      [...owed, ...endedStep(1, 'stop', textEvents('wait'))],
      'step 2',
    ],
    [
      'not when it calls again meanwhile',
      [
        ...owed,
        ...endedStep(1, 'stop'),
        ...endedStep(2, 'stop', callEvents('b', 'succeeded', provider)),
      ],
      'step 3',
      { maxSteps: 10 },
    ],
    [
      'when the provider owes nothing that comes later',
      endedStep(
        0,
        'stop',
        callEvents('a', 'ready', { name: 'draw', providerExecuted: true }),
        textEvents('Hi'),
      ),
      'completed',
    ],
  ]
  it.each(all(cases))('[ST4] [ST5] [ST6] %s', (_, events, expected, change) => {
    expect(next(events, change)).toBe(expected)
  })
})
