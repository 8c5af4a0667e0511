import { expect, it } from 'vitest'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { parseThreadId } from '../core/ids.ts'
import { createIdKeeper, createMessageNamer, toUnits } from '../import/import-units.ts'
import { createReport } from '../import/old-message.ts'
import { readOldMessages } from '../import/read-legacy-messages.ts'
import { planInSteps } from '../store/plan-commit.ts'

const calls = 5_000

const list = <Item>(toItem: (id: string) => Item): readonly Item[] =>
  Array.from({ length: calls }, (_, nth) => toItem(`c${nth}`))

const messages = {
  parts: {
    parts: list((toolCallId) => ({
      ...{ type: 'tool-look_up', toolCallId, state: 'output-available' },
      ...{ input: {}, output: 'Found.' },
    })),
  },
  toolInvocations: {
    content: '',
    toolInvocations: list((toolCallId) => ({
      ...{ state: 'result', toolCallId, toolName: 'look_up', args: {}, result: 'Found.' },
    })),
  },
  toolCalls: {
    content: '',
    toolCalls: list((id) => ({
      ...{ id, name: 'look_up', args: {}, result: 'Found.', status: 'completed' },
    })),
  },
}

/** Runs the work to its end, and counts how often it could have been paused. */
function countPauses<Result>(work: PausableWork<Result>) {
  let pauses = 0
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return { pauses, value }
    pauses++
  }
}

it.each(Object.entries(messages))(
  '[OP7b] a turn of thousands of calls is read, planned and checked in pieces: %s',
  (_, message) => {
    const threadId = parseThreadId('t-1')
    const old = [{ id: 'a-1', role: 'assistant', ...message }]
    const report = createReport()
    const read = countPauses(readOldMessages(old, { format: 'auto', at: 1 }, report))
    expect(read.pauses).toBeGreaterThan(2 * calls)

    const ids = createIdKeeper(threadId)
    const namer = createMessageNamer(ids)
    const named = read.value.messages.map((item) => namer.name(item, () => {}))
    const place = { at: 1, ids, replyTo: null, isFollowed: false, mendAt: () => () => {} }
    const units = countPauses(toUnits(named, place))
    expect(units.pauses).toBeGreaterThan(2 * calls)

    const events = units.value.flatMap((unit) => unit.events)
    const append = { threadId, events, expectedSeq: 0 }
    const planned = countPauses(planInSteps(append))
    // Each of its parts: events are checked, and searched for files, in portions of 64; folded in portions of 1,000.
    const portions = 2 * Math.ceil(events.length / 64) + Math.ceil(events.length / 1_000)
    expect(planned.pauses).toBeGreaterThanOrEqual(portions + calls)
    expect(planned.value).toEqual(runToEnd(planInSteps(append)))
    expect(planned.value).toMatchObject({ size: events.length })
    expect('calls' in planned.value && planned.value.calls).toHaveLength(calls)
  },
)
