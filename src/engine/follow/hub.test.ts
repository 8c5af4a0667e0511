import { expect, it } from 'vitest'
import { settled } from '../../../test/support/scripted-clock.ts'
import { parseOwnerId, parseThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { planCommit } from '../../store/plan-commit.ts'
import { createHub, type ReadGate } from './hub.ts'

const threadId = parseThreadId('t')

/** Reads one after the other, as for one owner. */
function inTurns(): ReadGate {
  let last: Promise<unknown> = Promise.resolve()
  return (read) => {
    const mine = last.then(read)
    last = mine.catch(() => undefined)
    return mine
  }
}

/** A hub on a store in memory, whose reads are recorded; `rename` commits one event as another process would. */
function openHub() {
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
  return { hub, reads, rename }
}

it('[RS2] [OP7a] followers that reach the end of a thread at the same time share one read', async () => {
  const { hub, reads, rename } = openHub()
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
  // Followers at the end, and followers one behind it: each seq is read once.
  expect(reads.toSorted((one, other) => one - other)).toEqual([1, 2])
  expect(got).toEqual(Array.from({ length: 25 }, () => 2))
  await rename(2)
  await settled()
  expect(reads.toSorted((one, other) => one - other)).toEqual([1, 2, 2])
  expect(got.slice(25)).toEqual(Array.from({ length: 50 }, () => 3))
  leave.abort()
  await Promise.all(followers)
})

it('[RS2] what others commit while this process writes is read when that write is delivered', async () => {
  const { hub, reads, rename } = openHub()
  const nothingNew = { after: 1, seq: 2, changes: [], incarnation: '', bytes: 0 }
  await rename(0)
  const leave = new AbortController()
  const got: number[] = []
  const follower = (async () => {
    for await (const { seq } of hub.follow(threadId, 1, leave.signal)) got.push(seq)
  })()
  await settled()
  // One that stored nothing, and one whose changes the window has already: neither brings a frame.
  for (const [nth, delivered] of [null, nothingNew].entries()) {
    const deliver = hub.announce(threadId)
    await rename(nth + 1)
    await settled()
    expect(got).toEqual([2].slice(0, nth))
    deliver(delivered)
    await settled()
    expect(got).toEqual([2, 3].slice(0, nth + 1))
  }
  expect(reads).toEqual([1, 1, 2])
  leave.abort()
  await follower
})
