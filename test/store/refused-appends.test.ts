import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseCallId, parseMessageId } from '../../src/core/ids.ts'
import type { Turn } from '../../src/core/message.ts'
import { planCommit, type PlannedCommit } from '../../src/store/plan-commit.ts'
import {
  at,
  begun,
  call,
  ended,
  turnEvent,
  recorded,
  resumed,
  messageAdded,
  settled,
  started,
  succeeded,
  text,
  thread,
  turn,
  user,
} from '../../src/testing/store-rules/thread-script.ts'

const paused = turnEvent({ type: 'turn-paused', waitingFor: 'client' })
const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const
const decided = turnEvent({ type: 'call-decided', callId: call, decision })
const retry = { kind: 'retry', by: 'ana', at } as const
const retried = turnEvent({ type: 'call-resolved', callId: call, resolution: retry })
const unknown = settled({ state: 'unknown', cause: 'crashed' })
const awaitingApproval = recorded(call, { approval: 'required' })
const next = parseMessageId('next')

function plan(before: readonly NewEvent[], events: readonly NewEvent[]) {
  const first = planCommit({ threadId: thread, events: before, expectedSeq: 0 }) as PlannedCommit
  const turns: readonly Turn[] = [...first.turns.values()]
  return planCommit({ threadId: thread, events, expectedSeq: before.length, turns })
}

const ofCall = (state: string) => ({ kind: 'illegal', subject: 'call', id: call, state })
const ofTurn = (state: string) => ({ kind: 'illegal', subject: 'turn', id: turn, state })
const exists = (id: string) => ({ kind: 'illegal', subject: 'message', id, state: 'exists' })

interface Case {
  readonly name: string
  readonly before?: readonly NewEvent[]
  readonly events: readonly NewEvent[]
  readonly refusal: object
}
const cases: readonly Case[] = [
  { name: 'text of a turn that is not there', events: text('Hi'), refusal: ofTurn('absent') },
  { name: 'the end of one', events: [ended()], refusal: ofTurn('absent') },
  { name: 'a second start', before: [started()], events: [started()], refusal: ofTurn('running') },
  {
    name: 'text of a turn that has ended',
    before: [started(), ended()],
    events: text('Hi'),
    refusal: ofTurn('ended'),
  },
  {
    name: 'text after the end in the same append',
    before: [started()],
    events: [ended(), ...text('Hi')],
    refusal: ofTurn('ended'),
  },
  {
    name: 'a new call of a turn that waits',
    before: [started(), paused],
    events: [recorded()],
    refusal: ofTurn('waiting'),
  },
  {
    name: 'a turn that is resumed while it runs',
    before: [started()],
    events: [resumed()],
    refusal: ofTurn('running'),
  },
  {
    name: 'the end of a turn with a call that runs',
    before: [started(), recorded(), begun()],
    events: [ended()],
    refusal: ofTurn('open-calls'),
  },
  {
    name: 'the end of a turn with a call that waits for a person',
    before: [started(), awaitingApproval, paused],
    events: [ended()],
    refusal: ofTurn('open-calls'),
  },
  {
    name: 'the end, with a call that the same append records',
    before: [started()],
    events: [recorded(), ended()],
    refusal: ofTurn('open-calls'),
  },
  {
    name: 'a result of a call that is not there',
    before: [started(), recorded(parseCallId('other'))],
    events: [succeeded(1)],
    refusal: ofCall('absent'),
  },
  {
    name: 'a second result',
    before: [started(), recorded(), begun(), succeeded(1)],
    events: [succeeded(2)],
    refusal: ofCall('succeeded'),
  },
  {
    name: 'a second result in the same append',
    before: [started(), recorded(), begun()],
    events: [succeeded(1), settled({ state: 'stopped', cause: 'stopped' })],
    refusal: ofCall('succeeded'),
  },
  {
    name: 'a call that is recorded twice',
    before: [started(), recorded()],
    events: [recorded()],
    refusal: ofCall('ready'),
  },
  {
    name: 'a call that starts without its approval',
    before: [started(), awaitingApproval],
    events: [begun()],
    refusal: ofCall('awaiting-approval'),
  },
  {
    name: 'a call that starts twice',
    before: [started(), recorded(), begun()],
    events: [begun()],
    refusal: ofCall('running'),
  },
  {
    name: 'a second decision',
    before: [started(), awaitingApproval, decided],
    events: [decided],
    refusal: ofCall('ready'),
  },
  {
    name: 'a retry of a call that has its result',
    before: [started(), recorded(), succeeded(1)],
    events: [retried],
    refusal: ofCall('succeeded'),
  },
  {
    name: 'a second retry',
    before: [started(), recorded(), unknown, retried],
    events: [retried],
    refusal: ofCall('ready'),
  },
  {
    name: 'a retry in a turn that has ended and is not resumed',
    before: [started(), recorded(), unknown, ended()],
    events: [retried],
    refusal: ofTurn('ended'),
  },
  {
    name: 'a message twice',
    events: [messageAdded('One'), messageAdded('Two')],
    refusal: exists(user),
  },
  {
    name: 'a message with the id of a turn of the same append',
    events: [started(next), messageAdded('Hi', next)],
    refusal: exists(next),
  },
]

describe('an append is refused for', () => {
  it.each(cases)('[CL2] $name', ({ before = [], events, refusal }) => {
    expect(plan(before, events)).toEqual(refusal)
  })

  it('[LG1] events without a place', () => {
    const place = () => planCommit({ threadId: thread, events: [messageAdded('Hi')] })
    expect(place).toThrow(HoldfastError)
  })

  it('[LG3] an event that cannot be stored, whatever else is in it', () => {
    const bad = { ...started(), at: 0.5 }
    const broken = () =>
      planCommit({ threadId: thread, events: [messageAdded('Hi'), bad], expectedSeq: 0 })
    expect(broken).toThrow(expect.objectContaining({ code: 'bad-event' }))
  })

  it('[LG9] a result that was read without its value', () => {
    const outcome = { state: 'succeeded', output: { kind: 'omitted', bytes: 20_000 } } as const
    const planned = () => plan([started(), recorded(), begun()], [settled(outcome)])
    expect(planned).toThrow(expect.objectContaining({ code: 'bad-event' }))
  })

  it('[LG1] nothing where the same id is retired before it comes again', () => {
    const retired = { type: 'messages-retired', messageIds: [user], at } as const
    expect(plan([], [messageAdded('One'), retired, messageAdded('Two')])).toMatchObject({
      newMessages: [
        { id: user, seq: 1, retiredSeq: 2 },
        { id: user, seq: 3, retiredSeq: null },
      ],
    })
  })
})
