import { describe, expect, it } from 'vitest'
import type { NewTurnEvent } from '../../core/event.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import { createEventBuffer, type EventBuffer } from './event-buffer.ts'

const turnId = parseMessageId('m')
const base = { turnId, at: 1 }
const begun = (block: string): NewTurnEvent => ({
  ...base,
  type: 'text-started',
  block,
  kind: 'text',
})
const ended = (block: string): NewTurnEvent => ({ ...base, type: 'text-ended', block })
const text = (block: string, delta: string): NewTurnEvent => ({
  ...base,
  type: 'text-appended',
  block,
  delta,
})
const signed = (block: string, delta: string): NewTurnEvent => ({
  ...base,
  type: 'text-appended',
  block,
  delta,
  providerMetadata: { p: { s: delta } },
})
const origin = (id: string, dynamic = false) => ({
  id: parseCallId(id),
  providerCallId: id,
  name: 'tool',
  ...(dynamic ? { dynamic: true as const } : {}),
})
const announced = (id: string, dynamic = false): NewTurnEvent => ({
  ...base,
  type: 'call-announced',
  callId: parseCallId(id),
  call: origin(id, dynamic),
})
const input = (id: string, delta: string): NewTurnEvent => ({
  ...base,
  type: 'call-input-appended',
  callId: parseCallId(id),
  delta,
})
const recorded = (id: string, dynamic = false): NewTurnEvent => ({
  ...base,
  type: 'call-recorded',
  callId: parseCallId(id),
  call: origin(id, dynamic),
  input: {},
  approval: 'not-required',
})

const pair = '😀'
const high = pair.slice(0, 1)
const low = pair.slice(1)

/** `|`: what was pushed so far is drained for a commit. */
type Action = NewTurnEvent | '|'
function commitsOf(actions: readonly Action[]): readonly (readonly NewTurnEvent[])[] {
  const buffer = createEventBuffer()
  const commits: (readonly NewTurnEvent[])[] = []
  for (const action of actions) {
    if (action === '|') commits.push(buffer.drain())
    else buffer.push(action)
  }
  return [...commits, buffer.drain()]
}

type Case = readonly [string, readonly Action[], readonly (readonly NewTurnEvent[])[]]

describe('deltas of text', () => {
  const cases: readonly Case[] = [
    ['that follow each other are one', [text('a', 'x'), text('a', 'y')], [[text('a', 'xy')]]],
    ['of two blocks are two', [text('a', 'x'), text('b', 'y')], [[text('a', 'x'), text('b', 'y')]]],
    [
      'that another is between stay where they came',
      [text('a', 'x'), text('b', 'y'), text('a', 'z')],
      [[text('a', 'x'), text('b', 'y'), text('a', 'z')]],
    ],
    [
      'that an event is between stay apart',
      [text('a', 'x'), begun('b'), text('a', 'y')],
      [[text('a', 'x'), begun('b'), text('a', 'y')]],
    ],
    [
      'of two commits are two',
      [text('a', 'x'), '|', text('a', 'y')],
      [[text('a', 'x')], [text('a', 'y')]],
    ],
    ['that are empty are none', [text('a', ''), text('a', 'x'), text('a', '')], [[text('a', 'x')]]],
    [
      'with metadata are kept by themselves, the empty one too',
      [text('a', 'x'), signed('a', ''), text('a', 'y')],
      // What follows is merged into the delta, and keeps its metadata.
      [[text('a', 'x'), { ...signed('a', ''), delta: 'y' } as NewTurnEvent]],
    ],
    [
      'and of arguments are not one',
      [text('a', 'x'), input('a', 'y')],
      [[text('a', 'x'), input('a', 'y')]],
    ],
    ['of arguments are one', [input('a', '{'), input('a', '}')], [[input('a', '{}')]]],
    [
      'of arguments of two calls are two',
      [input('a', '{'), input('b', '{')],
      [[input('a', '{'), input('b', '{')]],
    ],
  ]
  it.each(cases)('[LG8] %s', (_, actions, expected) => {
    expect(commitsOf(actions)).toEqual(expected)
  })
})

describe('progress', () => {
  const progressed = (id: string, output: number): NewTurnEvent => ({
    ...base,
    type: 'call-progressed',
    callId: parseCallId(id),
    output,
  })
  const cases: readonly Case[] = [
    ['of a call is the newest', [progressed('a', 1), progressed('a', 2)], [[progressed('a', 2)]]],
    [
      'of each call is its own',
      [progressed('a', 1), text('x', 'y'), progressed('b', 2), progressed('a', 3)],
      [[progressed('a', 3), text('x', 'y'), progressed('b', 2)]],
    ],
    [
      'that has left the buffer is not replaced',
      [progressed('a', 1), '|', progressed('a', 2)],
      [[progressed('a', 1)], [progressed('a', 2)]],
    ],
    [
      'stays in its place when another call has become complete before it',
      [announced('c'), input('c', '{}'), progressed('a', 1), recorded('c'), progressed('a', 2)],
      [[recorded('c'), progressed('a', 1), progressed('a', 2)]],
    ],
  ]
  it.each(cases)('[CL10 OP7] %s', (_, actions, expected) => {
    expect(commitsOf(actions)).toEqual(expected)
  })
})

describe('a surrogate pair', () => {
  const cases: readonly Case[] = [
    ['in one piece is nothing special', [text('a', pair), '|'], [[text('a', pair)], []]],
    [
      'in two pieces waits for its other half',
      [text('a', high), '|', text('a', low)],
      [[], [text('a', pair)]],
    ],
    [
      'takes along only itself',
      [text('a', `x${high}`), '|', text('a', `${low}y`)],
      [[text('a', 'x')], [text('a', `${pair}y`)]],
    ],
    [
      'of each block waits by itself',
      [text('a', high), text('b', `y${high}`), '|', text('b', low), text('a', low)],
      [[text('b', 'y')], [text('b', pair), text('a', pair)]],
    ],
    [
      'whose other half never comes is kept as it came',
      [text('a', high), '|', ended('a')],
      [[], [text('a', high), ended('a')]],
    ],
    [
      'is not ended by the end of another block',
      [text('a', high), ended('b'), '|', text('a', low)],
      [[ended('b')], [text('a', pair)]],
    ],
    ['in arguments waits too', [input('a', high), '|', input('a', low)], [[], [input('a', pair)]]],
    [
      'in arguments is not that of a text of the same name',
      [input('a', high), text('a', 'x'), '|', input('a', low)],
      [[text('a', 'x')], [input('a', pair)]],
    ],
    [
      'that goes on into the next one waits again',
      [text('a', high), text('a', low + high), '|', text('a', low)],
      [[text('a', pair)], [text('a', pair)]],
    ],
  ]
  it.each(cases)('[LG8] %s', (_, actions, expected) => {
    expect(commitsOf(actions)).toEqual(expected)
  })
})

describe('a call', () => {
  const cases: readonly Case[] = [
    [
      'that nobody saw begin is one event',
      [announced('a'), input('a', '{}'), recorded('a')],
      [[recorded('a')]],
    ],
    [
      'whose beginning left the buffer is written in full',
      [announced('a'), '|', input('a', '{}'), recorded('a')],
      [[announced('a')], [input('a', '{}'), recorded('a')]],
    ],
    ['that never began is as it is', [recorded('a')], [[recorded('a')]]],
    [
      'takes the place of its beginning, and leaves others theirs',
      [
        text('t', 'x'),
        announced('a'),
        announced('b'),
        input('a', '{'),
        input('b', '{'),
        text('t', 'y'),
        recorded('a'),
      ],
      [[text('t', 'x'), recorded('a'), announced('b'), input('b', '{'), text('t', 'y')]],
    ],
    [
      'that was dynamic at first stays so',
      [announced('a', true), recorded('a')],
      [[recorded('a', true)]],
    ],
    ['that became dynamic later is not', [announced('a'), recorded('a', true)], [[recorded('a')]]],
    [
      'is followed by text of its own',
      [announced('a'), text('t', 'x'), recorded('a'), text('t', 'y')],
      [[recorded('a'), text('t', 'x'), text('t', 'y')]],
    ],
  ]
  it.each(cases)('[LG8] [CL3] %s', (_, actions, expected) => {
    expect(commitsOf(actions)).toEqual(expected)
  })
})

describe('events that were peeked at or drained', () => {
  const filled = (...events: readonly NewTurnEvent[]): EventBuffer => {
    const buffer = createEventBuffer()
    for (const event of events) buffer.push(event)
    return buffer
  }

  it('[LG3] come first again when they could not be committed, and are not extended', () => {
    const buffer = filled(text('a', 'x'))
    const lost = buffer.drain()
    buffer.push(text('a', 'y'))
    buffer.restore(lost)
    buffer.push(text('a', 'z'))
    expect(buffer.size).toBe(3)
    expect(buffer.drain()).toEqual([text('a', 'x'), text('a', 'y'), text('a', 'z')])
    expect(lost).toEqual([text('a', 'x')])
  })

  it('[LG2] are not extended after they left the buffer', () => {
    const buffer = filled(text('a', 'x'))
    const seen = [...buffer.peek()]
    expect(buffer.extend('a', 'y')).toBe(false)
    buffer.push(text('a', 'y'))
    expect(seen).toEqual([text('a', 'x')])
    expect(buffer.drain()).toEqual([text('a', 'x'), text('a', 'y')])
  })

  it.each([
    ['the text that came last', 'a', 'y', true],
    ['another block', 'b', 'y', false],
    ['half a pair', 'a', high, false],
  ])('[LG8] can be extended: %s', (_, block, delta, isTaken) => {
    const buffer = filled(text('a', 'x'))
    expect(buffer.extend(block, delta)).toBe(isTaken)
    expect(buffer.drain()).toEqual([text('a', isTaken ? `x${delta}` : 'x')])
  })

  it('[LG8] cannot be extended while half a pair waits, or across another event', () => {
    expect(filled(text('a', `x${high}`)).extend('a', 'y')).toBe(false)
    expect(filled(text('a', 'x'), ended('a')).extend('a', 'y')).toBe(false)
    expect(filled(input('a', 'x')).extend('a', 'y')).toBe(false)
    expect(createEventBuffer().extend('a', 'y')).toBe(false)
  })

  it('[LG8] does not change the pushed objects', () => {
    const pushed = text('a', 'x')
    const buffer = filled(pushed, text('a', 'y'))
    buffer.extend('a', 'z')
    expect(pushed).toEqual(text('a', 'x'))
  })
})

describe('what was looked at', () => {
  it('[CL3] is the beginning of what there is, until the revision is another', () => {
    const buffer = createEventBuffer()
    const rewritten: NewTurnEvent[] = []
    const push = (event: NewTurnEvent) => {
      const { revision } = buffer
      const before = [...buffer.peek()]
      buffer.push(event)
      if (buffer.revision === revision) {
        expect(buffer.peek().slice(0, before.length)).toEqual(before)
      } else rewritten.push(event)
    }
    const events = [begun('a'), text('a', 'x'), text('a', 'y'), announced('c'), input('c', '{}')]
    for (const event of [...events, recorded('c'), ended('a')]) push(event)
    expect(rewritten).toEqual([recorded('c')])
    const { revision } = buffer
    const drained = buffer.drain()
    expect(buffer.revision).not.toBe(revision)
    push(begun('b'))
    const later = buffer.revision
    buffer.restore(drained)
    expect(buffer.revision).not.toBe(later)
  })
})
