import { expect, it } from 'vitest'
import { randomLedger } from '../testing/random-ledger.ts'
import { isTurnEvent, type LedgerEvent } from './event.ts'
import { type Change, foldThread, type ThreadView } from './fold-thread.ts'
import type { Turn } from './message.ts'

const empty: ThreadView = { seq: 0, messages: [] }

function changesOf(seed: number): Change[] {
  return randomLedger(seed, { turns: 4 }).map((event, index) => ({
    kind: 'event',
    seq: index + 1,
    event: { ...event, seq: index + 1 } as LedgerEvent,
  }))
}

it('[LG4] gives every follower the same messages, however the changes were cut into frames', () => {
  for (let seed = 1; seed <= 100; seed++) {
    const changes = changesOf(seed)
    const atOnce = foldThread(empty, changes)
    let oneByOne = empty
    for (const change of changes) oneByOne = foldThread(oneByOne, [change])
    expect(oneByOne).toEqual(atOnce)
    expect(atOnce.seq).toBe(changes.length)
  }
})

it('[RS2] takes the snapshot of a turn as one state in place of its bodies', () => {
  for (let seed = 1; seed <= 100; seed++) {
    const changes = changesOf(seed)
    const whole = foldThread(empty, changes)
    const snapshotted = whole.messages.find(
      (message): message is Turn => message.role === 'assistant',
    )
    if (snapshotted === undefined) continue
    const rest = changes.filter(
      ({ kind, ...change }) =>
        !('event' in change && isTurnEvent(change.event) && change.event.turnId === snapshotted.id),
    )
    const state = { kind: 'turn', seq: snapshotted.lastSeq, turn: snapshotted } as const
    const merged = [...rest, state].toSorted((left, right) => left.seq - right.seq)
    expect(foldThread(empty, merged)).toEqual({ ...whole, seq: merged.at(-1)?.seq })
  }
})

it('[RS2] skips what it has already seen', () => {
  const changes = changesOf(7)
  const view = foldThread(empty, changes)
  expect(foldThread(view, changes)).toBe(view)
})
