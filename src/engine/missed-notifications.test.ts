import { expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../test/support/scripted-clock.ts'
import { parseMessageId, parseOwnerId, parseThreadId, type ThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/memory-store.ts'
import { planCommit } from '../store/plan-commit.ts'
import type { ChangeNotification, Store } from '../store/store.ts'
import { createHub } from './hub.ts'

const threadId = parseThreadId('t')

/** A hub over a database that others write to; it hears of that only what the test tells it. */
function openUnheard({ canLookUp = true }: { readonly canLookUp?: boolean } = {}) {
  const inner = memory()
  const clock = createScriptedClock()
  let hear: (notification: ChangeNotification) => void = () => undefined
  let asked: (readonly ThreadId[])[] = []
  let isAway = false
  const store: Store = {
    ...inner,
    watch(listener) {
      hear = listener
      return () => undefined
    },
    ...(canLookUp && {
      async readSeqs(ids: readonly ThreadId[]) {
        asked.push(ids)
        if (isAway) throw new Error('away')
        const threads = await Promise.all(ids.map((id) => inner.readThread(id)))
        return new Map(threads.flatMap((found) => (found === null ? [] : [[found.id, found.seq]])))
      },
    }),
  }
  const hub = createHub(store, clock)
  const commit = async (id = threadId): Promise<void> => {
    const seq = (await inner.readThread(id))?.seq ?? 0
    const planned = planCommit({
      threadId: id,
      events: [
        {
          type: 'message-added',
          at: 1,
          messageId: parseMessageId(`u${seq}`),
          role: 'user',
          parts: [],
        },
      ],
      expectedSeq: seq,
      create: { ownerId: parseOwnerId('o'), title: '', at: 1 },
    })
    if ('kind' in planned) throw new Error(planned.kind)
    await inner.commit([planned])
  }
  const follow = (id = threadId) => {
    const leave = new AbortController()
    const got: number[] = []
    const done = (async () => {
      for await (const { changes } of hub.follow(id, 0, leave.signal)) {
        got.push(...changes.map(({ seq }) => seq))
      }
      return 'ended'
    })()
    return { got, done, leave: () => leave.abort() }
  }
  return {
    ...{ hub, inner, clock, commit, follow },
    hear: (notification: ChangeNotification) => hear(notification),
    setAway: (value: boolean) => void (isAway = value),
    takeAsked: () => {
      const taken = asked
      asked = []
      return taken
    },
  }
}

it('[RS2] [RS7] who has read the database alone reads on when the line was down', async () => {
  const { commit, follow, hear } = openUnheard({ canLookUp: false })
  await commit()
  await commit()
  const follower = follow()
  await settled()
  await commit()
  hear({ threadId: null, seq: 0 })
  await settled()
  expect(follower.got).toEqual([1, 2, 3])
  follower.leave()
})

it('[RS2] [RS7] a change that its process died before telling of is looked for', async () => {
  const { clock, commit, follow, takeAsked } = openUnheard()
  const other = parseThreadId('other')
  await commit()
  await commit(other)
  const followers = [follow(), follow(), follow(other)]
  await settled()
  await commit()
  await clock.advance(10_000)
  expect(followers.map(({ got }) => got)).toEqual([[1, 2], [1, 2], [1]])
  // All threads in one read.
  for (const ids of takeAsked()) expect(ids.toSorted()).toEqual([other, threadId])
  for (const { leave } of followers) leave()
  await settled()
  expect(clock.timers()).toEqual([])
})

it('[RS2] is looked for again when the database could not say', async () => {
  const { clock, commit, follow, setAway, takeAsked } = openUnheard()
  await commit()
  const follower = follow()
  await settled()
  await commit()
  setAway(true)
  await clock.advance(10_000)
  expect(follower.got).toEqual([1])
  expect(takeAsked().length).toBeGreaterThan(0)
  setAway(false)
  await clock.advance(10_000)
  expect(follower.got).toEqual([1, 2])
  follower.leave()
})

it('[RS2] so is a deletion: whoever followed the thread is let go', async () => {
  const { clock, commit, follow, inner } = openUnheard()
  await commit()
  const follower = follow()
  await settled()
  await inner.deleteThread(threadId)
  await clock.advance(10_000)
  expect(await follower.done).toBe('ended')
})
