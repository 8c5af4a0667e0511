import { describe, expect, it } from 'vitest'
import { begin, callId, inputAppended, record, succeeded } from '../../test/support/call-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { admitEvents } from './admit-events.ts'
import type { NewTurnEvent, TurnEventBody } from './event.ts'

const started: TurnEventBody = { type: 'call-started', callId }
const failed: TurnEventBody = {
  type: 'call-settled',
  callId,
  outcome: { state: 'failed', cause: 'tool-error', error: 'no' },
}
const open = turnOf(begin, record('not-required'))
const ended = turnOf(begin, record('not-required'), succeeded)
const event = (body: TurnEventBody): NewTurnEvent => ({ ...body, turnId: open.id, at: 1 })

describe('events that a call does not allow', () => {
  it.each<[string, typeof open, readonly TurnEventBody[], readonly TurnEventBody[]]>([
    ['one end', open, [succeeded], []],
    ['a second end', open, [succeeded, failed], [failed]],
    ['an end after the end', ended, [failed], [failed]],
    ['arguments after the call was whole', open, [inputAppended], [inputAppended]],
    ['an end of a call that is not there', turnOf(begin), [succeeded], [succeeded]],
  ])('[CL2] is decided before it is written: %s', (_, turn, bodies, ignored) => {
    const events = bodies.map(event)
    const admission = admitEvents(turn, events)
    expect(admission.ignored).toEqual(ignored.map(event))
    expect(admission.admitted).toEqual(
      events.filter((one) => !admission.ignored.includes(one as never)),
    )
  })

  it('[CL3] leaves a call-started for the store to refuse: the writer must not run the tool', () => {
    const events = [event(started)]
    expect(admitEvents(ended, events)).toEqual({ admitted: events, ignored: [] })
    expect(admitEvents(ended, events, () => true)).toEqual({ admitted: [], ignored: events })
  })
})
