import { expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/memory-store.ts'
import { planCommit } from '../store/plan-commit.ts'
import { createHub, type ReadGate } from './hub.ts'

const threadId = parseThreadId('t')

/** One after the other, as reads for one owner are made. */
function inTurns(): ReadGate {
  let last: Promise<unknown> = Promise.resolve()
  return (read) => {
    const mine = last.then(read)
    last = mine.catch(() => undefined)
    return mine
  }
}

it('[RS2] [OP7a] who comes to the end of a thread shares one read with all who wait to come there', async () => {
  const inner = memory()
  const reads: number[] = []
  const hub = createHub({
    ...inner,
    readChanges(query) {
      reads.push(query.after)
      return inner.readChanges(query)
    },
  })
  const rename = async (seq: number) => {
    const planned = planCommit({
      threadId,
      events: [{ type: 'thread-renamed', title: `${seq}`, at: 1 }],
      expectedSeq: seq,
      create: { ownerId: parseOwnerId('o'), title: '', at: 1 },
    })
    if ('kind' in planned) throw new Error(planned.kind)
    await inner.commit([planned])
  }
  await rename(0)
  await rename(1)
  const leave = new AbortController()
  const gate = inTurns()
  const got: number[] = []
  const followers = Array.from({ length: 50 }, async (_, index) => {
    for await (const { seq } of hub.follow(threadId, index % 2 === 0 ? 2 : 1, leave.signal, gate)) {
      got.push(seq)
    }
  })
  await settled()
  // Those at the end, and those one behind it: each place is read once.
  expect(reads.toSorted((one, other) => one - other)).toEqual([1, 2])
  expect(got).toEqual(Array.from({ length: 25 }, () => 2))
  await rename(2)
  await settled()
  expect(reads.toSorted((one, other) => one - other)).toEqual([1, 2, 2])
  expect(got.slice(25)).toEqual(Array.from({ length: 50 }, () => 3))
  leave.abort()
  await Promise.all(followers)
})
