import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../../test/support/scripted-clock.ts'
import { parseMessageId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { planCommit } from '../../store/plan-commit.ts'
import type { PlaceEvidence } from '../../store/place-evidence.ts'
import type { ChangeNotification, Store } from '../../store/store.ts'
import { createHub, type FollowedPlace, type ReadGate } from './hub.ts'
import { readSeqs } from '../../../test/support/read-seqs.ts'

const threadId = parseThreadId('t')

/** A hub over a database with other writers; it receives only the notifications that the test sends. */
function openHub({ canLookUp = true }: { readonly canLookUp?: boolean } = {}) {
  const inner = memory()
  const clock = createScriptedClock()
  let notify: (notification: ChangeNotification) => void = () => undefined
  let lookups: (readonly ThreadId[])[] = []
  let isAway = false
  let response: Promise<void> | undefined
  let evidence: PlaceEvidence | undefined
  const store: Store = {
    ...inner,
    watch(listener) {
      notify = listener
      return () => undefined
    },
    readPlace: async (id, seq) => evidence ?? inner.readPlace?.(id, seq) ?? null,
    ...(canLookUp && {
      async readSeqs(ids: readonly ThreadId[]) {
        lookups.push(ids)
        if (isAway) throw new Error('away')
        const found = await readSeqs(inner, ids)
        await response
        return found
      },
    }),
  }
  const hub = createHub(store, clock)
  const commit = async (id = threadId, events = 1): Promise<void> => {
    const seq = (await inner.readThread(id))?.seq ?? 0
    const planned = planCommit({
      threadId: id,
      events: Array.from({ length: events }, (_, index) => ({
        type: 'message-added',
        at: 1,
        messageId: parseMessageId(`u${seq + index}`),
        role: 'user',
        parts: [],
      })),
      expectedSeq: seq,
      create: { ownerId: parseOwnerId('o'), title: '', at: 1 },
    })
    if ('kind' in planned) throw new Error(planned.kind)
    await inner.commit([planned])
  }
  const follow = (id = threadId, after: FollowedPlace = 0, gate?: ReadGate) => {
    const leave = new AbortController()
    const got: number[] = []
    const done = (async () => {
      for await (const { changes } of hub.follow(id, after, leave.signal, gate)) {
        got.push(...changes.map(({ seq }) => seq))
      }
      return 'ended'
    })()
    return { got, done, leave: () => leave.abort() }
  }
  return {
    ...{ hub, inner, clock, commit, follow },
    notify: (notification: ChangeNotification) => notify(notification),
    setEvidence: (value: PlaceEvidence) => void (evidence = value),
    setAway: (value: boolean) => void (isAway = value),
    /** The response to a lookup is under way until the returned function is called. */
    lookLate: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      response = promise
      return resolve
    },
    takeLookups: () => {
      const taken = lookups
      lookups = []
      return taken
    },
  }
}

it('[RS2] [RS7] a follower that has only read the database reads on after the listener was disconnected', async () => {
  const { commit, follow, notify } = openHub({ canLookUp: false })
  await commit()
  await commit()
  const follower = follow()
  await settled()
  await commit()
  notify({ threadId: null, seq: 0 })
  await settled()
  expect(follower.got).toEqual([1, 2, 3])
  follower.leave()
})

it('[RS2] [RS7] a change whose notification was lost with its process is found by polling', async () => {
  const { clock, commit, follow, takeLookups } = openHub()
  const other = parseThreadId('other')
  await commit()
  await commit(other)
  const followers = [follow(), follow(), follow(other)]
  await settled()
  await commit()
  await clock.advance(10_000)
  expect(followers.map(({ got }) => got)).toEqual([[1, 2], [1, 2], [1]])
  // All threads in one read.
  for (const ids of takeLookups()) expect(ids.toSorted()).toEqual([other, threadId])
  for (const { leave } of followers) leave()
  await settled()
  expect(clock.timers()).toEqual([])
})

it('[RS7] a change of another process is read while a commit of this process is still in flight', async () => {
  const { clock, commit, follow, hub } = openHub()
  await commit()
  const follower = follow()
  await settled()
  // A commit of a run that waits for the store, and that another process has taken over meanwhile.
  const deliver = hub.announce(threadId)
  await commit()
  await clock.advance(15_000)
  expect(follower.got).toEqual([1, 2])
  deliver(null)
  await commit()
  await clock.advance(10_000)
  expect(follower.got).toEqual([1, 2, 3])
  follower.leave()
})

it('[RS2] is polled for again when the database did not respond', async () => {
  const { clock, commit, follow, setAway, takeLookups } = openHub()
  await commit()
  const follower = follow()
  await settled()
  await commit()
  setAway(true)
  await clock.advance(10_000)
  expect(follower.got).toEqual([1])
  expect(takeLookups().length).toBeGreaterThan(0)
  setAway(false)
  await clock.advance(10_000)
  expect(follower.got).toEqual([1, 2])
  follower.leave()
})

it('[RS2] so is a deletion: the followers of the thread end', async () => {
  const { clock, commit, follow, inner } = openHub()
  await commit()
  const follower = follow()
  await settled()
  await inner.deleteThread(threadId)
  await clock.advance(10_000)
  expect(await follower.done).toBe('ended')
})

it('[RS7] who has read further than the live window goes on reading when nobody is told of more', async () => {
  const { clock, commit, follow, hub } = openHub()
  // A run of this process, which another has taken over: its window stays behind.
  const release = hub.keep(threadId)
  await commit(threadId, 500)
  const first = follow(threadId, 499)
  await settled()
  first.leave()
  await settled()
  await commit(threadId, 100)
  // A read brings 500 changes: it ends where the window does, and says that there is more.
  const gate: ReadGate = async (read) => {
    await setImmediate()
    return read()
  }
  const follower = follow(threadId, 0, gate)
  await clock.advance(10_000)
  follower.leave()
  release()
  expect(follower.got).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
})

describe('[OP6] a thread that is deleted and created again under its id', () => {
  const incarnationOf = async ({ inner }: ReturnType<typeof openHub>): Promise<string> =>
    (await inner.readPlace?.(threadId, 0))?.incarnation ?? ''

  it('keeps its followers when the notification of the deletion arrives late', async () => {
    const opened = openHub()
    const { commit, follow, inner, notify } = opened
    await commit()
    const deleted = await incarnationOf(opened)
    await inner.deleteThread(threadId)
    await commit()
    const follower = follow()
    await settled()
    notify({ threadId, seq: 0, incarnation: deleted })
    await commit()
    notify({ threadId, seq: 2 })
    await settled()
    expect(follower.got).toEqual([1, 2])
    follower.leave()
  })

  it('keeps them while their first read is under way', async () => {
    const opened = openHub()
    const { commit, follow, inner, notify } = opened
    await commit()
    const deleted = await incarnationOf(opened)
    await inner.deleteThread(threadId)
    await commit()
    const turn = Promise.withResolvers<void>()
    const follower = follow(threadId, 0, (read) => turn.promise.then(read))
    notify({ threadId, seq: 0, incarnation: deleted })
    turn.resolve()
    await settled()
    await commit()
    notify({ threadId, seq: 2 })
    await settled()
    expect(follower.got).toEqual([1, 2])
    follower.leave()
  })

  it('ends the followers of the deleted one, whatever arrives first', async () => {
    const opened = openHub()
    const { commit, follow, inner, notify } = opened
    await commit()
    await commit()
    const follower = follow()
    await settled()
    const deleted = await incarnationOf(opened)
    await inner.deleteThread(threadId)
    await commit()
    notify({ threadId, seq: 0, incarnation: deleted })
    expect(await follower.done).toBe('ended')
    const next = follow()
    await settled()
    await inner.deleteThread(threadId)
    for (let seq = 1; seq <= 3; seq++) await commit()
    notify({ threadId, seq: 3 })
    expect(await next.done).toBe('ended')
    expect([follower.got, next.got]).toEqual([[1, 2], [1]])
  })

  it.each([1, 2, 3])(
    '[RS7] ends their streams, though no notification arrives and %s events are stored again',
    async (events) => {
      const { clock, commit, follow, inner } = openHub()
      await commit(threadId, 2)
      const follower = follow()
      await settled()
      await inner.deleteThread(threadId)
      await commit(threadId, events)
      await clock.advance(10_000)
      expect(await follower.done).toBe('ended')
      expect(follower.got).toEqual([1, 2])
    },
  )

  it('[RS7] keeps its followers when it was created while it was looked for', async () => {
    const opened = openHub()
    const { clock, commit, follow, hub, inner, lookLate } = opened
    await commit()
    const old = follow()
    await settled()
    await inner.deleteThread(threadId)
    const looked = lookLate()
    await clock.advance(5_000)
    const deliver = hub.announce(threadId)
    await commit()
    const incarnation = await incarnationOf(opened)
    deliver({ after: 0, seq: 1, changes: [], incarnation, bytes: 0 })
    const follower = follow(threadId, { seq: 1, incarnation })
    await settled()
    looked()
    expect(await old.done).toBe('ended')
    await commit()
    await clock.advance(10_000)
    expect(follower.got).toEqual([2])
    follower.leave()
  })

  it('follows the one that was read, though the live window is that of the deleted one', async () => {
    const opened = openHub()
    const { commit, follow, inner, notify } = opened
    await commit(threadId, 3)
    const old = { seq: 1, incarnation: await incarnationOf(opened) }
    const before = follow()
    await settled()
    await inner.deleteThread(threadId)
    await commit(threadId, 2)
    const incarnation = await incarnationOf(opened)
    const follower = follow(threadId, { seq: 1, incarnation })
    expect(await before.done).toBe('ended')
    await settled()
    await commit()
    notify({ threadId, seq: 3 })
    await settled()
    expect([before.got, follower.got]).toEqual([
      [1, 2, 3],
      [2, 3],
    ])
    // Who has read the deleted one gets nothing of the other, and its stream ends.
    const late = follow(threadId, old)
    expect(await late.done).toBe('ended')
    expect(late.got).toEqual([])
    follower.leave()
  })

  it('follows the one that is stored from a bare seq, though the live window is that of the deleted one', async () => {
    const { commit, follow, inner, notify } = openHub()
    await commit(threadId, 3)
    const before = follow()
    await settled()
    await inner.deleteThread(threadId)
    await commit(threadId, 4)
    const follower = follow(threadId, 3)
    await settled()
    await commit()
    notify({ threadId, seq: 5 })
    await settled()
    expect(await before.done).toBe('ended')
    expect([before.got, follower.got]).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    follower.leave()
    await inner.deleteThread(threadId)
    await expect(follow(threadId, 3).done).rejects.toMatchObject({ code: 'thread-not-found' })
  })
})

it('[OP6] who joins while a live window may be of a lost history gets nothing that the store has not', async () => {
  const { commit, follow, inner, notify, setEvidence } = openHub({ canLookUp: false })
  await commit()
  const before = follow()
  await settled()
  await commit()
  notify({ threadId, seq: 2 })
  await settled()
  const { incarnation = '' } = (await inner.readPlace?.(threadId, 0)) ?? {}
  // A standby that lagged behind has taken over: it has another second commit.
  setEvidence({ incarnation, threadSeq: 2, mark: 'another', newest: null })
  notify({ threadId: null, seq: 0 })
  const follower = follow(threadId, { seq: 1, incarnation })
  expect([await before.done, await follower.done]).toEqual(['ended', 'ended'])
  expect([before.got, follower.got]).toEqual([[1, 2], []])
})
