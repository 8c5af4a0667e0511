import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../../test/support/scripted-clock.ts'
import { numberEvents } from '../../core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { planCommit } from '../../store/plan-commit.ts'
import type { ChangeNotification, Store } from '../../store/store.ts'
import { createRandom, type Random } from '../../testing/random.ts'
import { createHub, type FollowedPlace, type ReadGate } from './hub.ts'
import { readSeqs } from '../../../test/support/read-seqs.ts'
import { toFrame } from './live-window.ts'

const threadId = parseThreadId('t')

/** Each read in a turn of the event loop of its own, as `FairReads` has it: a loop without an end does not block the test. */
const gate: ReadGate = async (read) => {
  await setImmediate()
  return read()
}

/** What was read of a thread before it is followed. */
interface ReadPlace {
  readonly seq: number
  readonly incarnation: string
  /** Of which of the threads that have had the id. */
  readonly thread: number
}

interface Follower {
  readonly after: number
  /** The thread that it has read; null: it gave a seq alone. */
  readonly thread: number | null
  /** Each change as its thread and its seq. */
  readonly got: string[]
  hasEnded: boolean
  readonly leave: () => void
}

interface Played {
  readonly followers: readonly Follower[]
  /** The last seq of each thread that has had the id. */
  readonly ends: readonly number[]
}

/**
 * One process with followers, and another one that writes to the same thread and may delete it and create it again.
 * Any notification may be lost, that of a deletion may also be late.
 */
async function play(random: Random, isDeleted: boolean): Promise<Played> {
  const inner = memory()
  const clock = createScriptedClock()
  let notify: (notification: ChangeNotification) => void = () => undefined
  /** What was read may be out of date when it arrives. */
  const underWay = async <Read>(read: Read): Promise<Read> => {
    for (let left = random.pick([0, 0, 1, 4]); left > 0; left--) await setImmediate()
    return read
  }
  const store: Store = {
    ...inner,
    watch(listener) {
      notify = listener
      return () => undefined
    },
    readChanges: async (query) => underWay(await inner.readChanges(query)),
    readSeqs: async (ids: readonly ThreadId[]) => underWay(await readSeqs(inner, ids)),
  }
  const hub = createHub(store, clock)
  let end = 0
  const ends: number[] = []
  const late: (() => void)[] = []
  const commit = async () => {
    const text = 'x'.repeat(random.pick([1, 1, 1_000, 60_000]))
    const events = Array.from({ length: random.pick([1, 1, 3, 200]) }, (_, index) => ({
      ...({ type: 'message-added', at: 1, role: 'user' } as const),
      messageId: parseMessageId(nameOf(ends.length, end + index + 1)),
      parts: index === 0 ? [{ type: 'text', text } as const] : [],
    }))
    const create = { ownerId: parseOwnerId('o'), title: '', at: 1 }
    const planned = planCommit({ threadId, events, expectedSeq: end, create })
    if ('kind' in planned) throw new Error(planned.kind)
    const [result] = await inner.commit([planned])
    if (result?.kind !== 'appended') throw new Error(result?.kind)
    end = result.seq
    return toFrame(numberEvents(events, result.firstSeq), result, planned)
  }
  const readPlace = async (): Promise<ReadPlace> => {
    const { incarnation = '' } = (await inner.readPlace?.(threadId, 0)) ?? {}
    return { seq: random.int(end + 1), incarnation, thread: ends.length }
  }
  const followers: Follower[] = []
  const places: ReadPlace[] = []
  const inFlight: (() => void)[] = []
  const held: (() => void)[] = []
  const follow = (place: FollowedPlace, thread: number | null) => {
    const controller = new AbortController()
    const leave = () => controller.abort()
    const after = typeof place === 'number' ? place : place.seq
    const follower = { after, thread, got: [] as string[], hasEnded: false, leave }
    followers.push(follower)
    void (async () => {
      for await (const { changes } of hub.follow(threadId, place, controller.signal, gate)) {
        for (const { seq, ...change } of changes) {
          const id =
            change.kind === 'event' && 'messageId' in change.event && change.event.messageId
          follower.got.push(id === false ? `${seq} is no message` : id)
        }
      }
      follower.hasEnded = !controller.signal.aborted
    })()
  }
  const actions = {
    async 'a commit of this process'() {
      const deliver = hub.announce(threadId)
      const frame = await commit()
      // In order: the frames of a thread are delivered as they were committed.
      inFlight.push(() => deliver(frame))
    },
    async 'a commit of this process is delivered'() {
      inFlight.shift()?.()
    },
    async 'a commit of another process'() {
      await commit()
      if (random.chance(0.5)) notify({ threadId, seq: end })
    },
    async 'the listener is back'() {
      notify({ threadId: null, seq: 0 })
    },
    async 'a run of this process begins or ends'() {
      if (random.chance(0.5)) held.push(hub.keep(threadId))
      else held.shift()?.()
    },
    async 'somebody reads the thread'() {
      places.push(await readPlace())
    },
    async 'somebody follows what was read, perhaps long ago'() {
      const place = places.shift() ?? (await readPlace())
      follow(place, place.thread)
    },
    async 'somebody follows a bare seq'() {
      follow(random.int(end + 1), null)
      // It does not tell which thread it belongs to, so the first read must be of this one.
      await settled()
    },
    async 'a follower leaves'() {
      followers.splice(random.int(followers.length), 1)[0]?.leave()
    },
    async 'time passes'() {
      await clock.advance(random.int(2_000))
    },
    async 'a late notification arrives'() {
      late.shift()?.()
    },
    async 'the thread is deleted and created again'() {
      if (!isDeleted) return
      // The order of the commits of this process and of their frames is not in question here.
      for (const deliver of inFlight.splice(0)) deliver()
      await settled()
      const { incarnation } = await readPlace()
      await inner.deleteThread(threadId)
      ends.push(end)
      end = 0
      const arrive = () => notify({ threadId, seq: 0, incarnation })
      if (random.chance(0.3)) arrive()
      else if (random.chance(0.5)) late.push(arrive)
      if (random.chance(0.5)) await actions['a commit of this process']()
      else await actions['a commit of another process']()
    },
  }
  await commit()
  for (let step = 0; step < 60; step++) {
    await random.pick(Object.values(actions))()
    if (random.chance(0.7)) await settled()
  }
  // What is in flight never ends: another process has taken over. What is late is lost.
  await clock.advance(15_000)
  for (let round = 0; round < 20; round++) await settled()
  for (const { leave } of followers) leave()
  await settled()
  return { followers, ends: [...ends, end] }
}

const nameOf = (thread: number, seq: number): string => `${thread}.${seq}`

const between = (thread: number, after: number, end: number): readonly string[] =>
  Array.from({ length: Math.max(0, end - after) }, (_, index) => nameOf(thread, after + index + 1))

it('[RS2 RS7] every follower gets every change once, whoever commits and whatever notification is lost', async () => {
  let followed = 0
  for (let seed = 1; seed <= 150; seed++) {
    const { followers, ends } = await play(createRandom(seed), false)
    for (const { got, after } of followers) {
      followed++
      expect(got, `seed ${seed}, after ${after}`).toEqual(between(0, after, ends[0] ?? 0))
    }
  }
  expect(followed).toBeGreaterThan(100)
})

it('[OP6 RS7] a follower gets changes of one thread only, and ends with it, though another has its id now', async () => {
  let ended = 0
  let stayed = 0
  for (let seed = 1; seed <= 150; seed++) {
    const { followers, ends } = await play(createRandom(seed), true)
    const last = ends.length - 1
    for (const { got, after, thread, hasEnded } of followers) {
      // A bare seq may be taken for one of the deleted thread: then the follower ends with it.
      const its = thread ?? (hasEnded ? Number.parseInt(got[0] ?? '0', 10) : last)
      const isLast = its === last && !(thread === null && hasEnded)
      const at = isLast ? (ends[its] ?? 0) : after + got.length
      expect({ got, hasEnded }, `seed ${seed}, thread ${thread}, after ${after}`).toEqual({
        got: between(its, after, at),
        hasEnded: !isLast,
      })
      if (got.length > 0) expect(at).toBeLessThanOrEqual(ends[its] ?? 0)
      if (isLast) stayed++
      else ended++
    }
  }
  expect(ended).toBeGreaterThan(50)
  expect(stayed).toBeGreaterThan(50)
})
